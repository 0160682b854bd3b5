package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
)

// How long and how many reports the stream keeps.
const (
	MaxAge     = 90 * 24 * time.Hour
	maxReports = 1000
	duplicates = 10 * time.Minute
)

func (c *Conn) jetStream() (jetstream.JetStream, error) {
	if c.domain != "" {
		return jetstream.NewWithDomain(c.nc, c.domain)
	}
	return jetstream.New(c.nc)
}

// Init makes the buckets and the stream of the fleet. Those that are there
// are brought to the same settings; what they hold stays.
func (c *Conn) Init(ctx context.Context, replicas int) error {
	js, err := c.jetStream()
	if err != nil {
		return err
	}
	_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: c.want(), History: 1, Replicas: replicas, Description: "signed releases and rollouts",
		RePublish: &jetstream.RePublish{Source: "$KV." + c.want() + ".>", Destination: "settle." + c.Fleet + ".want.>"},
	})
	if err != nil {
		return fmt.Errorf("make bucket %s: %w", c.want(), err)
	}
	_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: c.status(), History: 1, Replicas: replicas, Description: "where each machine stands"})
	if err != nil {
		return fmt.Errorf("make bucket %s: %w", c.status(), err)
	}
	_, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: c.bundles(), Replicas: replicas, Description: "bundles by digest"})
	if err != nil {
		return fmt.Errorf("make bucket %s: %w", c.bundles(), err)
	}
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: c.runs(), Subjects: []string{"settle." + c.Fleet + ".runs.>"}, Description: "reports of machines",
		MaxMsgsPerSubject: maxReports, MaxAge: MaxAge, Duplicates: duplicates, AllowDirect: true, Replicas: replicas,
	})
	if err != nil {
		return fmt.Errorf("make stream %s: %w", c.runs(), err)
	}
	return nil
}

// PutRelease uploads a bundle, unless it is nil, and creates its release. A
// version that is there is never replaced.
func (c *Conn) PutRelease(ctx context.Context, r *release.Release, signed *release.Signed, packed []byte) error {
	js, err := c.jetStream()
	if err != nil {
		return err
	}
	if packed != nil {
		store, err := js.ObjectStore(ctx, c.bundles())
		if err == nil {
			_, err = store.Put(ctx, jetstream.ObjectMeta{Name: r.Hex(), Description: r.String()}, bytes.NewReader(packed))
		}
		if err != nil {
			return fmt.Errorf("upload bundle: %w", err)
		}
	}
	bucket, err := js.KeyValue(ctx, c.want())
	if err == nil {
		_, err = bucket.Create(ctx, fmt.Sprintf("release.%s.%d", r.Name, r.Version), encodeSigned(signed))
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("publish %s: this version was published already", r)
	}
	if err != nil {
		return fmt.Errorf("publish %s: %w", r, err)
	}
	return nil
}

func encodeSigned(signed *release.Signed) []byte {
	text, err := json.Marshal(signed)
	if err != nil {
		panic(err) // texts only
	}
	return text
}

// Last returns the newest release of a name, or nil without a release.
func (c *Conn) Last(ctx context.Context, name string) (*release.Release, error) {
	js, err := c.jetStream()
	if err != nil {
		return nil, err
	}
	bucket, err := js.KeyValue(ctx, c.want())
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", c.want(), err)
	}
	keys, err := bucket.ListKeysFiltered(ctx, "release."+name+".*")
	if err != nil {
		return nil, fmt.Errorf("list releases: %w", err)
	}
	var highest int64
	for key := range keys.Keys() {
		var version int64
		if _, err := fmt.Sscanf(key[strings.LastIndexByte(key, '.')+1:], "%d", &version); err == nil {
			highest = max(highest, version)
		}
	}
	if highest == 0 {
		return nil, nil
	}
	signed, err := c.Release(ctx, name, highest)
	if err != nil || signed == nil {
		return nil, err
	}
	return release.Parse([]byte(signed.Text))
}

// Rollout returns the rollout of a name and its revision; nil and 0 without
// a rollout.
func (c *Conn) Rollout(ctx context.Context, name string) (*release.Signed, uint64, error) {
	js, err := c.jetStream()
	if err != nil {
		return nil, 0, err
	}
	bucket, err := js.KeyValue(ctx, c.want())
	if err != nil {
		return nil, 0, fmt.Errorf("open bucket %s: %w", c.want(), err)
	}
	entry, err := bucket.Get(ctx, "rollout."+name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read rollout %s: %w", name, err)
	}
	var signed release.Signed
	if err := json.Unmarshal(entry.Value(), &signed); err != nil {
		return nil, 0, fmt.Errorf("read rollout %s: %w", name, err)
	}
	return &signed, entry.Revision(), nil
}

// ErrRevision is returned when a rollout has changed since it was read.
var ErrRevision = errors.New("the rollout has changed meanwhile: another controller drives it")

// PutRollout writes a rollout, if the last one has still the given revision. It
// returns the new revision.
func (c *Conn) PutRollout(ctx context.Context, name string, signed *release.Signed, revision uint64) (uint64, error) {
	js, err := c.jetStream()
	if err != nil {
		return 0, err
	}
	bucket, err := js.KeyValue(ctx, c.want())
	if err != nil {
		return 0, fmt.Errorf("open bucket %s: %w", c.want(), err)
	}
	next, err := bucket.Update(ctx, "rollout."+name, encodeSigned(signed), revision)
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == 10071 || api.ErrorCode == 10164) {
		return 0, ErrRevision
	}
	if err != nil {
		return 0, fmt.Errorf("write rollout %s: %w", name, err)
	}
	return next, nil
}

// Statuses returns the last status of every machine.
func (c *Conn) Statuses(ctx context.Context) ([]Message, error) {
	return c.collect(ctx, "KV_"+c.status(), "$KV."+c.status()+".>", jetstream.DeliverLastPerSubjectPolicy, nil)
}

// Reports returns the reports of machines that match a subject pattern, oldest
// first, from a time on.
func (c *Conn) Reports(ctx context.Context, name, machine string, since time.Time) ([]Message, error) {
	return c.collect(ctx, c.runs(), c.RunSubject(name, machine), jetstream.DeliverByStartTimePolicy, &since)
}

// collect reads the messages of a stream that are there now, by one ephemeral consumer.
func (c *Conn) collect(ctx context.Context, stream, subject string, policy jetstream.DeliverPolicy, since *time.Time) ([]Message, error) {
	js, err := c.jetStream()
	if err != nil {
		return nil, err
	}
	consumer, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}, DeliverPolicy: policy, OptStartTime: since})
	if err != nil {
		return nil, fmt.Errorf("read stream %s: %w", stream, err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("read stream %s: %w", stream, err)
	}
	var all []Message
	left := info.NumPending
	for left > 0 {
		batch, err := consumer.Fetch(int(min(left, 1000)), jetstream.FetchMaxWait(5*time.Second))
		if err != nil {
			return nil, fmt.Errorf("read stream %s: %w", stream, err)
		}
		got := uint64(0)
		for msg := range batch.Messages() {
			got++
			if m := stored(msg); m != nil {
				all = append(all, *m)
			}
		}
		if got == 0 {
			return nil, fmt.Errorf("read stream %s: %d messages did not arrive", stream, left)
		}
		left -= min(got, left)
	}
	return all, nil
}

// stored returns a message of a consumer, nil for one that was deleted.
func stored(msg jetstream.Msg) *Message {
	meta, err := msg.Metadata()
	if err != nil || msg.Headers().Get("KV-Operation") != "" {
		return nil
	}
	return &Message{Subject: msg.Subject(), Sequence: meta.Sequence.Stream, Time: meta.Timestamp, Header: msg.Headers(), Data: msg.Data()}
}

// Forged reports whether a stored message is an answer of the server that was
// aimed at a foreign subject: such an answer has a header of the server's.
func (m *Message) Forged() bool { return len(nats.Header(m.Header).Values(nats.JSSubject)) > 0 }

// Follow calls each for every report from a time on, also for those that come,
// until the context ends.
func (c *Conn) Follow(ctx context.Context, name, machine string, since time.Time, each func(*Message) error) error {
	js, err := c.jetStream()
	if err != nil {
		return err
	}
	consumer, err := js.OrderedConsumer(ctx, c.runs(), jetstream.OrderedConsumerConfig{FilterSubjects: []string{c.RunSubject(name, machine)}, DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since})
	if err != nil {
		return fmt.Errorf("follow stream %s: %w", c.runs(), err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("follow stream %s: %w", c.runs(), err)
	}
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	for {
		msg, err := messages.Next()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow stream %s: %w", c.runs(), err)
		}
		if m := stored(msg); m != nil {
			if err := each(m); err != nil {
				return err
			}
		}
	}
}
