package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

func (c *Conn) doSubject() string { return "settle." + c.Fleet + ".do" }

// Answer calls answer with each request to all machines, or to this one, and sends
// back the text that it returns. A nil answer sends nothing: the request is for other machines.
func (c *Conn) Answer(machine string, answer func(request []byte) []byte) error {
	for _, subject := range []string{c.doSubject(), c.doSubject() + "." + machine} {
		_, err := c.nc.Subscribe(subject, func(m *nats.Msg) {
			if text := answer(m.Data); text != nil && m.Reply != "" {
				_ = m.Respond(text) // a machine that cannot answer is listed as silent
			}
		})
		if err != nil {
			return fmt.Errorf("listen for requests: %w", err)
		}
	}
	return nil
}

// Ask sends a request to all machines and calls each with every answer until it
// returns false or the context ends.
func (c *Conn) Ask(ctx context.Context, request []byte, each func(answer []byte) bool) error {
	inbox := c.nc.NewInbox()
	answers, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		return fmt.Errorf("ask the machines: %w", err)
	}
	defer func() { _ = answers.Unsubscribe() }() // the connection ends soon
	// 10,000 answers arrive at once: the default limits are for a trickle.
	if err := answers.SetPendingLimits(-1, -1); err != nil {
		return fmt.Errorf("ask the machines: %w", err)
	}
	if err := c.nc.PublishRequest(c.doSubject(), inbox, request); err != nil {
		return fmt.Errorf("ask the machines: %w", err)
	}
	for {
		m, err := answers.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("ask the machines: %w", err)
		case len(m.Data) > 0 && !each(m.Data): // an empty one says that no machine listens
			return nil
		case len(m.Data) == 0:
			return nil
		}
	}
}
