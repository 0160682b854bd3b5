package provision

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// Tokens verifies and signs JSON web tokens.
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

// world holds the state that all provisions of a run share.
type world struct {
	Options
	directories sync.Mutex // held to make one

	gathered struct {
		sync.Mutex
		*contract.Inventory
	}
}

// facts gathers the facts of this machine once a run. Gathering takes longer than a
// helper, and a manifest may have a thousand provisions.
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

const (
	helperTimeout  = 10 * time.Second // of the helper, when the resource has none
	commandTimeout = 5 * time.Minute  // of every other command
)

// process returns a command of the resource. The timeout of the resource replaces
// the default that the caller passes.
func (s *server) process(argv []string, timeout time.Duration) model.Command {
	if s.timeout != nil {
		timeout = *s.timeout
	}
	cmd := s.w.Command(s.base, argv)
	cmd.Timeout, cmd.Sensitive = timeout, s.sensitive
	return cmd
}

// shown returns a command as text for people. A sensitive resource shows none of it.
func (s *server) shown(argv []string) string {
	if s.sensitive {
		return hidden
	}
	return s.w.Join(argv)
}

// outputOf runs the command of a property and returns its standard output. The
// error of a sensitive resource leaves out the output.
func (s *server) outputOf(ctx context.Context, property string, argv []string) ([]byte, error) {
	exit, err := s.w.Ask(ctx, s.process(argv, commandTimeout))
	var brief interface{ Brief() string }
	if s.sensitive && errors.As(err, &brief) {
		err = errors.New(brief.Brief())
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", property, s.shown(argv), err)
	}
	return exit.Reply, nil
}

// hidden replaces a content that is never shown.
const hidden = "***"
