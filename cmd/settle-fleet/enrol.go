package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/machine"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/permissions"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
)

type joinCommand struct {
	Fleet    string   `required:"" env:"SETTLE_FLEET" help:"The fleet to join."`
	Server   string   `required:"" placeholder:"URL" help:"The NATS server, such as nats://nats.example.com."`
	Machine  string   `placeholder:"NAME" help:"The name of this machine. Default: its host name."`
	Releases []string `required:"" placeholder:"NAME" help:"The releases to follow, in this order."`
	Dir      string   `default:"/etc/settle" help:"Where to write fleet.yaml and the key. Default: /etc/settle."`
	Signers  string   `placeholder:"FILE" help:"An allowed_signers file to install; - is standard input."`
	CA       string   `name:"ca" placeholder:"FILE" help:"The certificate authority of the server."`
}

func (c *joinCommand) run(_ context.Context, a *app) error {
	if c.Machine == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("find the host name: %w", err)
		}
		c.Machine = strings.ToLower(name)
	}
	if err := errors.Join(release.CheckName("--fleet", c.Fleet), release.CheckMachine(c.Machine)); err != nil {
		return exitWith(exitUsage, err)
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return exitWith(exitUnwritten, fmt.Errorf("join: %w", err))
	}
	public, err := c.key()
	if err == nil {
		err = c.writeFiles(a.in)
	}
	if err != nil {
		return exitWith(exitUnwritten, fmt.Errorf("join: %w", err))
	}
	return a.printf("%s %s\n", c.Machine, public)
}

// key returns the public key of this machine. A key that is there stays: to
// join again must not lock a machine out.
func (c *joinCommand) key() (string, error) {
	path := filepath.Join(c.Dir, "machine.nk")
	seed, err := os.ReadFile(path)
	if err == nil {
		return bus.PublicKey(seed)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	seed, public, err := bus.NewKey()
	if err != nil {
		return "", err
	}
	return public, machine.WriteFile(path, append(seed, '\n'), 0o600)
}

func (c *joinCommand) writeFiles(stdin io.Reader) error {
	contextFile, err := json.MarshalIndent(&bus.Context{
		URL: c.Server, NKey: "machine.nk", CA: c.CA, InboxPrefix: bus.MachineInbox(c.Machine),
		Description: c.Machine + " of fleet " + c.Fleet,
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := machine.WriteFile(filepath.Join(c.Dir, "nats.json"), append(contextFile, '\n'), 0o600); err != nil {
		return err
	}
	if c.Signers != "" {
		if err := installSigners(c.Signers, filepath.Join(c.Dir, "allowed_signers"), stdin); err != nil {
			return err
		}
	}
	path := filepath.Join(c.Dir, "fleet.yaml")
	if _, err := os.Stat(path); err == nil {
		return nil // it may hold labels and more
	}
	text := fmt.Sprintf("fleet: %s\nmachine: %s\nreleases: [%s]\nnats: nats.json\nallowed_signers: allowed_signers\n", c.Fleet, c.Machine, strings.Join(c.Releases, ", "))
	return machine.WriteFile(path, []byte(text), 0o600)
}

func installSigners(from, to string, stdin io.Reader) (err error) {
	var text []byte
	if from == "-" {
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(from)
	}
	if err != nil {
		return err
	}
	return machine.WriteFile(to, text, 0o644)
}

type permissionsCommand struct {
	Machine  string `arg:"" optional:"" help:"A machine: its entry is printed."`
	Fleet    string `required:"" env:"SETTLE_FLEET" help:"The fleet."`
	NKey     string `name:"nkey" placeholder:"KEY" help:"The public key that settle-fleet join has printed for it."`
	From     string `placeholder:"FILE" help:"A file of lines MACHINE KEY, as join prints them: the whole list of users is printed. - is standard input."`
	Accounts bool   `help:"Print the accounts of the fleet, once for a server."`
	Operator string `placeholder:"KEY" help:"The public key of the operators, for --accounts."`
	Include  string `default:"machines.conf" placeholder:"FILE" help:"The file of the list of users, for --accounts. Default: machines.conf."`
}

// Validate wants exactly one thing to print. kong calls it.
func (c *permissionsCommand) Validate() error {
	count := 0
	for _, given := range []bool{c.Machine != "", c.From != "", c.Accounts} {
		if given {
			count++
		}
	}
	switch {
	case count != 1:
		return errors.New("give a machine with --nkey, --from, or --accounts")
	case c.Machine != "" && !bus.IsPublicKey(c.NKey):
		return errors.New("--nkey: give the public key that settle-fleet join has printed; it begins with U")
	case c.Accounts && !bus.IsPublicKey(c.Operator):
		return errors.New("--operator: give the public key of the operators; it begins with U")
	}
	return release.CheckName("--fleet", c.Fleet)
}

func (c *permissionsCommand) run(_ context.Context, a *app) error {
	switch {
	case c.Accounts:
		return a.printf("%s", permissions.Accounts(c.Fleet, c.Operator, c.Include))
	case c.Machine != "":
		if err := release.CheckMachine(c.Machine); err != nil {
			return exitWith(exitUsage, err)
		}
		return a.printf("%s", permissions.User(c.Fleet, permissions.Machine{Name: c.Machine, NKey: c.NKey}))
	}
	machines, err := readMachines(c.From, a.in)
	if err != nil {
		return err
	}
	return a.printf("%s", permissions.Users(c.Fleet, machines))
}

// readMachines reads lines of MACHINE KEY. Of a machine that joined again the
// last line counts.
func readMachines(from string, stdin io.Reader) ([]permissions.Machine, error) {
	if from != "-" {
		file, err := os.Open(from)
		if err != nil {
			return nil, exitWith(exitUnreadable, fmt.Errorf("read machines: %w", err))
		}
		defer file.Close()
		stdin = file
	}
	var machines []permissions.Machine
	var problems []error
	at := map[string]int{}
	lines := bufio.NewScanner(stdin)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case len(fields) != 2 || release.CheckMachine(fields[0]) != nil || !bus.IsPublicKey(fields[1]):
			problems = append(problems, fmt.Errorf("%s:%d: write MACHINE KEY, as settle-fleet join prints it", from, number))
		default:
			m := permissions.Machine{Name: fields[0], NKey: fields[1]}
			if i, known := at[m.Name]; known {
				machines[i] = m
				continue
			}
			at[m.Name] = len(machines)
			machines = append(machines, m)
		}
	}
	return machines, exitWith(exitInvalid, errors.Join(append(problems, lines.Err())...))
}

type keyCommand struct {
	Output string `arg:"" help:"The file for the key. It must not exist."`
}

// run makes the key of an operator and prints its public part.
func (c *keyCommand) run(_ context.Context, a *app) error {
	if _, err := os.Stat(c.Output); err == nil {
		return exitWith(exitUnwritten, fmt.Errorf("make key: %s is there already", c.Output))
	}
	seed, public, err := bus.NewKey()
	if err == nil {
		err = machine.WriteFile(c.Output, append(seed, '\n'), 0o600)
	}
	if err != nil {
		return exitWith(exitUnwritten, fmt.Errorf("make key: %w", err))
	}
	return a.printf("%s\n", public)
}
