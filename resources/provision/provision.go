// Package provision is the resource type that lets a site's own program, the
// helper, decide how a Choria server is configured, and makes the server so:
// idempotently, whole, and only after everything the helper said was checked.
//
// Package contract defines the exchange with the helper. Functions that touch the
// machine are handed in with Options.
package provision

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// Tokens is what verifies and signs them.
type Tokens struct {
	Verify    func(token, key string) (claims []byte, err error)
	Sign      func(contract.Token, contract.Signer) (string, error)
	IsCurrent func(token string, want contract.Token, by contract.Signer) (bool, error)
}

// Options are what the type needs from the program around it.
type Options struct {
	Ask        func(context.Context, model.Command) (model.Exit, error) // one exchange: the reply, or the reason of its absence
	Run        func(context.Context, model.Command) (model.Exit, error)
	LookPath   func(name, dir string, path []string) (string, error)
	Argv       func(line string, holes []model.Placeholder) ([]string, error) // a command line's words
	Join       func(argv []string) string                                     // words as text that a shell reads back
	Command    func(base model.Base, argv []string) model.Command             // builds a child command
	SearchPath func(base model.Base) []string                                 // where its programs are looked for
	Conditions func(*model.Body) func(context.Context, model.Ask) (model.Decision, error)
	Disk       disk.Functions
	UID, GID   func(name string) (uint32, error)
	Diff       func(from, to string, before, after []byte) string
	Tokens     Tokens
	Facts      func(context.Context) ([]byte, error) // of this machine, as a JSON object
	Now        func() time.Time
	StateDir   string // where keys wait that no reply has confirmed; "" is nowhere
}

// Type returns the provision type.
func Type(opts Options) model.Type {
	w := &world{Options: opts}
	return model.Type{
		Name:       "provision",
		Meaning:    "a Choria server whose configuration, credentials and policies a helper decides",
		Properties: properties,
		Decode:     w.decode,
	}
}

// world is what all provisions of a run share.
type world struct {
	Options
	directories sync.Mutex // held to make one

	gathered struct {
		sync.Mutex
		*contract.Inventory
	}
}

// facts gathers those of this machine once a run: it costs more than a helper,
// and there may be a thousand of them.
func (w *world) facts(ctx context.Context) (contract.Inventory, error) {
	w.gathered.Lock()
	defer w.gathered.Unlock()
	if w.gathered.Inventory == nil {
		facts, err := w.Facts(ctx)
		if err == nil {
			w.gathered.Inventory, err = contract.ParseInventory(facts)
		}
		if err != nil {
			return contract.Inventory{}, err
		}
	}
	return *w.gathered.Inventory, nil
}

// server is one provision as declared.
type server struct {
	w        *world
	base     model.Base
	decide   func(context.Context, model.Ask) (model.Decision, error)
	creates  bool
	helper   []string
	text     string // the helper, for people
	identity string
	timeout  *time.Duration // nil: each command's own default
	site     string
	features contract.Features

	dir, config, ssldir string // absolute
	owner, group        string // "" is not declared

	credentials
	description

	onShutdown, onUpgrade []string
	upgradeOptional       bool
	pauseFile             string
	sensitive             bool
}

// credentials are the keys and tokens that a provision names.
type credentials struct {
	jwt, verify              string // a file; a file or a key
	signingKey, signingToken string // files, "" for none
	validity                 time.Duration
	deny                     []*regexp.Regexp
}

// description says where the inventory and the version of the server come from.
type description struct {
	inventory        *contract.Inventory
	inventoryFile    string
	inventoryCommand []string
	version          string
	versionCommand   []string
}

// Site returns the site of a provision, for metrics; false for a resource of another type.
func Site(spec model.Spec) (site string, ok bool) {
	s, ok := spec.(*server)
	if !ok {
		return "", false
	}
	return s.site, true
}

// About describes the resource without looking at the machine.
func (s *server) About() model.About {
	return model.About{
		Command: s.text, Cwd: s.base.Dir, Creates: s.creates, MayChange: true, Journaled: true, KeepsState: true,
	}
}
