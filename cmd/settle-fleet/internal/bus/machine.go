package bus

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/source"
)

// Conn is a connection of a machine or an operator.
type Conn struct {
	nc     *nats.Conn
	Fleet  string
	api    string
	domain string
}

// Close ends the connection.
func (c *Conn) Close() { c.nc.Close() }

// Names of the streams and buckets of a fleet in JetStream.
func (c *Conn) want() string    { return "settle_" + c.Fleet + "_want" }
func (c *Conn) status() string  { return "settle_" + c.Fleet + "_status" }
func (c *Conn) bundles() string { return "settle_" + c.Fleet + "_bundles" }
func (c *Conn) runs() string    { return "settle_" + c.Fleet + "_runs" }

// RunSubject returns where a machine tells its runs of a release name.
func (c *Conn) RunSubject(name, machine string) string {
	return "settle." + c.Fleet + ".runs." + name + "." + machine
}

// StatusSubject returns where a machine tells its status.
func (c *Conn) StatusSubject(machine string) string { return "$KV." + c.status() + "." + machine }

// Message is one stored message.
type Message struct {
	Subject  string
	Sequence uint64
	Time     time.Time // the broker's
	Header   map[string][]string
	Data     []byte
}

// Get returns a header's first value.
func (m *Message) Get(key string) string { return nats.Header(m.Header).Get(key) }

// ErrOffline is returned at once while there is no connection.
var ErrOffline = errors.New("not connected to NATS")

// request sends a message and waits for its answer.
func (c *Conn) request(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	if !c.nc.IsConnected() {
		return nil, ErrOffline
	}
	answer, err := c.nc.RequestMsgWithContext(ctx, msg)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, fmt.Errorf("ask %s: there is no such stream: run settle-fleet init, and compare the permissions", msg.Subject)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("ask %s: no answer in time", msg.Subject)
	}
	return answer, err
}

// last returns the last message of a subject in a stream, nil when there is
// none. It may come from a replica that lags.
func (c *Conn) last(ctx context.Context, stream, subject string) (*Message, error) {
	return c.direct(ctx, &nats.Msg{Subject: c.api + ".DIRECT.GET." + stream + "." + subject})
}

func (c *Conn) direct(ctx context.Context, ask *nats.Msg) (*Message, error) {
	answer, err := c.request(ctx, ask)
	if err != nil {
		return nil, err
	}
	switch status := answer.Header.Get("Status"); status {
	case "":
	case "404":
		return nil, nil
	default:
		return nil, fmt.Errorf("ask %s: %s %s", ask.Subject, status, answer.Header.Get("Description"))
	}
	m := &Message{Header: answer.Header, Data: answer.Data}
	if m.Sequence, err = strconv.ParseUint(answer.Header.Get(nats.JSSequence), 10, 64); err != nil {
		return nil, fmt.Errorf("ask %s: the answer has no sequence", ask.Subject)
	}
	m.Subject = answer.Header.Get(nats.JSSubject)
	m.Time, _ = time.Parse(time.RFC3339Nano, answer.Header.Get(nats.JSTimeStamp)) // zero when it is missing
	return m, nil
}

// signed returns a signed text of the bucket, nil when the key is not there.
func (c *Conn) signed(ctx context.Context, key string) (*release.Signed, error) {
	m, err := c.last(ctx, "KV_"+c.want(), "$KV."+c.want()+"."+key)
	if err != nil || m == nil || m.Get("KV-Operation") != "" {
		return nil, err
	}
	var signed release.Signed
	if len(m.Data) > 4*release.MaxText || json.Unmarshal(m.Data, &signed) != nil {
		return nil, fmt.Errorf("the key %s is not a signed text", key)
	}
	return &signed, nil
}

// Look returns the rollout of a name.
func (c *Conn) Look(ctx context.Context, name string) (source.News, error) {
	rollout, err := c.signed(ctx, "rollout."+name)
	return source.News{Rollout: rollout}, err
}

// Release returns one version of a name.
func (c *Conn) Release(ctx context.Context, name string, version int64) (*release.Signed, error) {
	return c.signed(ctx, fmt.Sprintf("release.%s.%d", name, version))
}

// chunkLimit bounds how long one chunk of a bundle may take.
const chunkLimit = 30 * time.Second

// Fetch writes the bundle of a release: an object whose chunks are got one by one,
// so that a machine needs no consumer.
func (c *Conn) Fetch(ctx context.Context, r *release.Release, w io.Writer) error {
	prefix := "$O." + c.bundles()
	meta, err := c.last(ctx, "OBJ_"+c.bundles(), prefix+".M."+base64.URLEncoding.EncodeToString([]byte(r.Hex())))
	if err != nil {
		return err
	}
	var info struct {
		NUID    string
		Chunks  int
		Deleted bool
	}
	if meta == nil || json.Unmarshal(meta.Data, &info) != nil || info.Deleted {
		return fmt.Errorf("the bundle %s is not there", r.Digest)
	}
	next := uint64(1)
	for range info.Chunks {
		asking, stop := context.WithTimeout(ctx, chunkLimit)
		body := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q}`, next, prefix+".C."+info.NUID)
		chunk, err := c.direct(asking, &nats.Msg{Subject: c.api + ".DIRECT.GET.OBJ_" + c.bundles(), Data: body})
		stop()
		switch {
		case err != nil:
			return err
		case chunk == nil:
			return errors.New("a part of the bundle is missing")
		}
		if _, err := w.Write(chunk.Data); err != nil {
			return err
		}
		next = chunk.Sequence + 1
	}
	return nil
}

// LastRun returns the last message of a machine's own subject.
func (c *Conn) LastRun(ctx context.Context, name, machine string) (*Message, error) {
	return c.last(ctx, c.runs(), c.RunSubject(name, machine))
}

// LastStatus returns a machine's last status.
func (c *Conn) LastStatus(ctx context.Context, machine string) (*Message, error) {
	return c.last(ctx, "KV_"+c.status(), c.StatusSubject(machine))
}

// ErrSequence is returned when the last message of a subject is another one
// than expected.
var ErrSequence = errors.New("the last message of the subject is another one")

// Publish stores a message and returns its sequence.
func (c *Conn) Publish(ctx context.Context, subject string, header map[string]string, data []byte) (uint64, error) {
	msg := nats.NewMsg(subject)
	for key, value := range header {
		msg.Header.Set(key, value)
	}
	msg.Data = data
	answer, err := c.request(ctx, msg)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Seq   uint64
		Error *struct {
			Code        int `json:"err_code"`
			Description string
		}
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return 0, fmt.Errorf("publish %s: the answer is no acknowledgement", subject)
	}
	// Both codes say it; which one depends on the version and on replication.
	if ack.Error != nil && slices.Contains([]int{10071, 10164}, ack.Error.Code) {
		return 0, ErrSequence
	}
	if ack.Error != nil {
		return 0, fmt.Errorf("publish %s: %s", subject, ack.Error.Description)
	}
	return ack.Seq, nil
}

// MaxPayload returns how many bytes one message may have.
func (c *Conn) MaxPayload() int { return int(c.nc.MaxPayload()) }

// Connected reports whether there is a connection now.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// Wanted calls heard with the name of each release whose rollout was written.
func (c *Conn) Wanted(heard func(name string)) error {
	prefix := "settle." + c.Fleet + ".want.rollout."
	_, err := c.nc.Subscribe("settle."+c.Fleet+".want.>", func(m *nats.Msg) {
		if name, ok := strings.CutPrefix(m.Subject, prefix); ok {
			heard(name)
		}
	})
	return err
}
