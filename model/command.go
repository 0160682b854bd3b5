package model

import (
	"fmt"
	"time"
)

// Command is one process to run, given whole: nothing of it is taken from the
// process that runs it.
type Command struct {
	Argv            []string
	Dir             string        // absolute
	Env             []string      // KEY=VALUE, each key once
	Path            []string      // directories where a bare Argv[0] is looked for, in order; only in absolute ones
	Stdin           []byte        // nil: the null device
	Timeout         time.Duration // from the start of the process; 0: none
	Grace           time.Duration // between TERM and KILL
	InterruptLeader bool          // a timeout or cancel first sends INT to the leader alone, and TERM to the group after the grace
	ProcessTag      string        // the word in SETTLE_RUN_ID by which its descendants are known
	User            *Credential   // nil: as we are
	Umask           *int          // nil: inherited
	// Output gets the merged output line by line as it comes, without line
	// ends, safe to print; never more than one call at a time, on a goroutine of
	// the runner, none after the run has returned. The line is valid during the
	// call only. nil: nobody listens.
	Output func(line []byte)
	// Reply keeps apart what it writes to standard output, as it is, up to so many
	// bytes: it comes back in Exit.Reply, and Output and Exit.Output have standard
	// error alone. More than that ends it. 0: both are merged in Output.
	Reply int
	// Redact hides secrets in all output before anyone sees it. nil: nothing to hide.
	Redact Redactor
	// Sensitive says that not even the names of its processes are to be told.
	Sensitive bool
	// Started is told of the process before anything waits for it. An error ends it.
	Started func(Process) error
}

// Redactor makes a stream filter: it is fed chunks in order, and returns what is
// safe to show so far (valid until the next call); end releases what it held back.
type Redactor func() func(chunk []byte, end bool) []byte

// Credential is who a process runs as.
type Credential struct {
	UID, GID uint32
	Groups   []uint32
}

// Exit is how a process ended.
type Exit struct {
	Began     bool   // it was started; else only the error has something to say
	Code      int    // its exit code, when Signal is ""
	Signal    string // SIGKILL etc. when a signal ended it
	Output    string // head and tail of what it wrote, valid UTF-8, the cut marked
	Truncated bool
	Reply     []byte   // with Command.Reply, what it wrote to standard output
	Warnings  []string // e.g. a background process that still holds the output
}

// String words the end for people: "exit 3" or "killed by SIGKILL".
func (e Exit) String() string {
	switch {
	case !e.Began:
		return "not started"
	case e.Signal != "":
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}
