//go:build linux || darwin

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/settle-cm/settle/model"
)

// null is the standard input of those who are given none: opened once, because
// there is nothing in it that they could share.
var null = struct {
	sync.Mutex
	fd int
}{fd: -1}

func openNull() (fd int, err error) {
	null.Lock()
	defer null.Unlock()
	if null.fd < 0 {
		null.fd, err = syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	return null.fd, err
}

// start starts the process of a command.
func start(ctx context.Context, c *model.Command) (*process, error) {
	if len(c.Argv) == 0 {
		return nil, &StartError{"the command is empty", nil}
	}
	if err := checkDir(c.Dir); err != nil {
		return nil, err
	}
	program := c.Argv[0]
	if !strings.Contains(program, "/") { // else the child resolves it from its directory
		file, err := LookPath(program, c.Dir, c.Path)
		if err != nil {
			return nil, err
		}
		program = file
	}
	p := &process{pidfd: -1, stdin: -1, unsent: c.Stdin, out: output{fd: -1}, reply: reply{fd: -1}}
	if err := p.spawn(ctx, c, program); err != nil {
		for _, fd := range []int{p.stdin, p.out.fd, p.reply.fd} {
			if fd >= 0 {
				_ = syscall.Close(fd)
			}
		}
		return nil, err
	}
	return p, nil
}

// spawn makes the pipes and the process.
func (p *process) spawn(ctx context.Context, c *model.Command, program string) error {
	var write int
	var err error
	if p.out.fd, write, err = newPipe(); err != nil {
		p.out.fd = -1
		return newStartError(program, err)
	}
	defer syscall.Close(write)
	read, err := openNull()
	if err != nil {
		return &StartError{"open " + os.DevNull + ": " + err.Error(), err}
	}
	if c.Stdin != nil {
		if read, p.stdin, err = newPipe(); err != nil {
			p.stdin = -1
			return newStartError(program, err)
		}
		defer syscall.Close(read)
		_ = syscall.SetNonblock(p.stdin, true) // cannot fail on a pipe of ours
	}
	stdout := write
	if c.Reply > 0 {
		if p.reply.fd, stdout, err = newPipe(); err != nil {
			p.reply.fd = -1
			return newStartError(program, err)
		}
		defer syscall.Close(stdout)
		p.reply.limit = c.Reply
	}
	sys := childAttributes(&p.pidfd)
	if u := c.User; u != nil && (int(u.UID) != os.Geteuid() || int(u.GID) != os.Getegid() || os.Geteuid() == 0) {
		sys.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
		for _, fd := range []int{p.stdin, write, stdout} {
			_ = syscall.Fchown(fd, int(u.UID), -1) // for /dev/stderr and the like, which are opened anew; all else works without
		}
	}
	p.pid, err = forkWithRetry(ctx, c.Umask, program, c.Argv, &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Sys: sys,
		Files: []uintptr{uintptr(read), uintptr(stdout), uintptr(write)},
	})
	if err != nil {
		return newForkError(c, sys.Credential, program, err)
	}
	return nil
}

// newForkError words the error of a fork or exec. The system does not say which
// step before the program failed, so the steps are checked again here.
func newForkError(c *model.Command, who *syscall.Credential, program string, err error) error {
	if who != nil && errors.Is(err, syscall.EPERM) {
		why := "only root may"
		if os.Geteuid() == 0 {
			why = "not even for root here"
		}
		return &StartError{fmt.Sprintf("switching to user %d is not permitted: %s", who.Uid, why), err}
	}
	if who != nil && errors.Is(err, syscall.EINVAL) {
		return &StartError{fmt.Sprintf("switching to user %d and group %d is not possible: the system, or this user namespace, has no such number", who.Uid, who.Gid), err}
	}
	if dir := checkDir(c.Dir); dir != nil {
		return dir
	}
	if errors.Is(err, syscall.EACCES) {
		if who != nil && !canEnter(c.Dir, c.User) {
			return &StartError{fmt.Sprintf("cwd %s: user %d has no permission to enter it", quoteWord(c.Dir), who.Uid), err}
		}
		if who == nil && unix.Faccessat(unix.AT_FDCWD, c.Dir, unix.X_OK, unix.AT_EACCESS) != nil {
			return &StartError{"cwd " + quoteWord(c.Dir) + ": no permission to enter it", err}
		}
	}
	if !strings.HasPrefix(program, "/") {
		program = filepath.Join(c.Dir, program)
	}
	return newStartError(program, err)
}

// umasks serialises forks that have to change the umask of the whole process.
var umasks sync.RWMutex

// forkWithRetry starts the process. A program file that is open for writing is
// tried again for a moment: another fork of ours may hold the descriptor.
func forkWithRetry(ctx context.Context, umask *int, program string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	for pause := 5 * time.Millisecond; ; pause *= 2 {
		if umask == nil {
			umasks.RLock()
			pid, err = forkExec(program, argv, attr)
			umasks.RUnlock()
		} else {
			pid, err = forkUmask(*umask, program, argv, attr)
		}
		if !errors.Is(err, syscall.ETXTBSY) || pause > 200*time.Millisecond {
			return pid, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, err
		}
	}
}

// forkUmaskAlone changes the umask of the whole process while it forks.
func forkUmaskAlone(umask int, program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	umasks.Lock()
	defer umasks.Unlock()
	defer syscall.Umask(syscall.Umask(umask))
	return forkExec(program, argv, attr)
}
