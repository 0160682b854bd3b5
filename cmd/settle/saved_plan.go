package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/journal"
)

// maxSavedPlan is the largest size in bytes of a saved plan. It is far above the plan of
// the largest manifest. A file that never ends reaches it, or is no JSON at once.
const maxSavedPlan = 1 << 30

// readSavedPlan reads a plan that plan --out has saved.
func readSavedPlan(path string) (*model.SavedPlan, *exit.Refusal) {
	f, err := os.Open(path)
	var saved model.SavedPlan
	if err == nil {
		defer f.Close()
		d := json.NewDecoder(io.LimitReader(f, maxSavedPlan))
		if err = d.Decode(&saved); err == nil && d.More() {
			saved.Schema = "" // something follows: another program wrote it
		}
	}
	var unreadable *fs.PathError
	if errors.As(err, &unreadable) {
		return nil, exit.Refuse(exit.Unreadable, "read plan %s: %w", path, source.ExplainError(err, ": make it with settle plan --out"))
	}
	if err != nil || saved.Schema != model.SavedSchema {
		return nil, exit.Refuse(exit.Stale, "read plan %s: it is not a plan that this settle has saved: make it anew with settle plan --out", path)
	}
	return &saved, nil
}

// checkSavable refuses to save a plan for a manifest without state, because applying
// it later compares the state.
func (j *job) checkSavable(l *loaded) {
	if j.out != "" && l.refused == nil && l.manifest.Identity == "" {
		l.refuse(exit.Refuse(exit.Usage, "--out: a manifest from standard input needs a name: a saved plan rests on the state"))
	}
}

// checkSavedPlan compares a saved plan with the manifest and the state, under the lock.
func (j *job) checkSavedPlan(l *loaded, known *memory) *exit.Refusal {
	if j.saved == nil {
		return nil
	}
	if what := j.saved.DescribeChanges(l.manifest, known.position(), j.selection(), j.sum(false)); what != "" {
		return exit.Refuse(exit.Stale, "the plan %s no longer holds: %s; make a new one with settle plan --out", j.plan, what)
	}
	return nil
}

// sum returns how a saved plan sums up texts that may hold secrets: with the key of
// the state directory. With create it makes a missing key, and returns nil when it
// cannot. Without create no sum of a missing key equals a saved one.
func (j *job) sum(create bool) model.KeyedSum {
	dir, err := journal.Dir(j.StateDir, os.Getenv, os.Geteuid())
	if err != nil { // the run fails for it anyway
		dir = ""
	}
	key := journal.Key(dir)(false)
	if key == nil && create {
		if key = journal.MakeKey(dir); key == nil {
			return nil
		}
	}
	return func(text string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return hex.EncodeToString(mac.Sum(nil))
	}
}

// save writes the plan that was just made. It replaces an older one whole, and
// only the user may read it.
func (j *job) save(l *loaded, known *memory, results []model.Result) error {
	if j.out == "" {
		return nil
	}
	// For root the rename would succeed and replace a device such as /dev/null.
	if info, err := os.Stat(j.out); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("save plan %s: it is not a regular file: name another one", j.out)
	}
	sum := j.sum(true)
	if sum == nil {
		return fmt.Errorf("save plan %s: the state directory cannot hold the key of its sums; name another one with --state-dir", j.out)
	}
	saved := model.SavePlan(l.manifest, known.position(), j.selection(), results, sum)
	saved.Version, saved.Created = version, l.report.Started
	text, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return fmt.Errorf("save plan %s: %w", j.out, err)
	}
	if err := publish.ReplaceFile(j.out, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("save plan %s: %w", j.out, publish.ExplainWriteError(err))
	}
	return nil
}

// asStalePlan returns the refusal for a run that differs from its saved plan, and false
// for other errors.
func asStalePlan(err error) (*exit.Refusal, bool) {
	var differs *engine.ErrDiffers
	if errors.As(err, &differs) {
		return exit.Refuse(exit.Stale, "the saved plan no longer holds: %w; make a new one with settle plan --out", differs), true
	}
	return nil, false
}
