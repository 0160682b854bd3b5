package model

import (
	"fmt"
	"time"
)

// Command is one process to run. It is complete: the runner adds nothing from its
// own environment or working directory.
type Command struct {
	Argv            []string
	Dir             string        // absolute
	Env             []string      // KEY=VALUE, each key once
	Path            []string      // absolute directories to search for a bare Argv[0], in order
	Stdin           []byte        // nil: the null device
	Timeout         time.Duration // from the start of the process; 0: no limit
	Grace           time.Duration // between TERM and KILL
	InterruptLeader bool          // a timeout or cancel first sends INT to the leader alone, and TERM to the group after Grace
	ProcessTag      string        // value of SETTLE_RUN_ID, which identifies its descendants
	User            *Credential   // nil: the user of settle
	Umask           *int          // nil: inherited
	// Output receives the merged output line by line, without line ends and safe
	// to print. Calls come one at a time, on a goroutine of the runner, and end
	// before the run returns. The line is valid during the call only. nil: the
	// lines are dropped.
	Output func(line []byte)
	// Reply is the limit in bytes of a standard output that is returned unchanged
	// in Exit.Reply. Output and Exit.Output then hold standard error alone. A
	// larger reply ends the process. 0: Output holds both streams.
	Reply int
	// Redact redacts secrets in all output before it is used. nil: there are no secrets.
	Redact Redactor
	// Sensitive keeps even the names of its processes out of every text.
	Sensitive bool
	// Started is called with the process before the runner waits for it. An error
	// ends the process.
	Started func(Process) error
}

// Redactor returns a stream filter. The filter takes chunks in order and returns
// the bytes that are safe to show so far, valid until its next call. end releases
// the bytes that it held back.
type Redactor func() func(chunk []byte, end bool) []byte

// Credential is the user and the groups that a process runs as.
type Credential struct {
	UID, GID uint32
	Groups   []uint32
}

// Exit is how a process ended.
type Exit struct {
	Began     bool   // the process was started; if not, only the error is set
	Code      int    // exit code, when Signal is ""
	Signal    string // SIGKILL etc. when a signal ended it
	Output    string // head and tail of the output, valid UTF-8, with a mark at the cut
	Truncated bool
	Reply     []byte   // standard output, with Command.Reply
	Warnings  []string // e.g. a background process that still holds the output
}

// String returns the end as text: "exit 3" or "killed by SIGKILL".
func (e Exit) String() string {
	switch {
	case !e.Began:
		return "not started"
	case e.Signal != "":
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}
