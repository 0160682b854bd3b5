package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model"
)

// SaveReport writes the report of a run that did something. For a converged run
// the line of Finish is enough. Whether the report was written is part of how the
// run ended, so call SaveReport before Finish.
func (j *Journal) SaveReport(report *model.Report) error {
	if past := j.historyRecord(report); past.Converged() {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.saveReport(report)
}

// historyRecord returns the run as the history shows it.
func (j *Journal) historyRecord(report *model.Report) model.RunRecord {
	return model.RunRecord{
		Run: j.self.Run, Started: j.self.Since, DurationMS: report.DurationMS, User: j.self.User,
		ExitCode: &report.ExitCode, Summary: report.Summary,
	}
}

// Finish records the end of the run. The history keeps the last runs of each kind,
// as many as keep says (model.DefaultKeep for 0).
func (j *Journal) Finish(report *model.Report, keep int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	past := j.historyRecord(report)
	record := j.self.runRecord()
	record.Kind, record.Took, record.Exit, record.Summary, record.Keep = model.RecordDone, past.DurationMS, past.ExitCode, &past.Summary, keep
	if n := len(j.pending) - 1; n >= 0 && j.pending[n].Run == j.self.Run {
		j.pending = j.pending[:n] // the done record contains the same
	}
	if err := j.append([]model.Record{record}, !past.Converged()); err != nil {
		return err
	}
	if err := j.checkInPlace(); err != nil {
		return err
	}
	if past.Converged() {
		return nil // a converged run drops no report
	}
	return errors.Join(j.prune(), j.pruneBackups())
}

// storedReport is a report as it is kept: with the times of its resources, which
// are not part of the document that users get.
type storedReport struct {
	model.Report
	Times []model.Times `json:"times,omitempty"`
}

func (s Store) reportFile(run string) string { return filepath.Join(s.Path(), "runs", run+".json") }

func (j *Journal) saveReport(report *model.Report) error {
	path := j.store.reportFile(j.self.Run)
	text, err := json.Marshal(storedReport{*report, report.Times})
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if err = makeDir(filepath.Dir(path)); err == nil {
		err = replaceFile(path, text)
	}
	if err != nil {
		return j.store.explain("save report", path, err)
	}
	return nil
}

// prune removes the reports of runs that the history has dropped.
func (j *Journal) prune() error {
	dir := filepath.Dir(j.store.reportFile(""))
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := map[string]bool{}
	for _, past := range j.Runs() {
		kept[past.Run+".json"] = true
	}
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		if err == nil && !kept[file.Name()] && isReport(path) {
			err = os.Remove(path)
		}
	}
	if err != nil {
		return j.store.explain("prune reports", dir, err)
	}
	return nil
}

// isReport reports whether a file is a report that settle saved, by name and
// content: nothing else in the directory is ours to remove.
func isReport(path string) bool {
	if name := filepath.Base(path); !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".json.new") {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // nothing was written
	const begin = `{"schema":"settle.report/`
	head := make([]byte, len(begin))
	n, _ := io.ReadFull(file, head) // a shorter file is no history
	return string(head[:n]) == begin
}

// UnknownRun is the error for a run that the history does not have.
type UnknownRun struct {
	Run   string
	Known []string // the runs that it has, the last one first
}

// Error returns the message.
func (e *UnknownRun) Error() string {
	switch {
	case len(e.Known) == 0:
		return "no runs yet: settle apply makes the first"
	case len(e.Known) == 1:
		return fmt.Sprintf("no run %q; the only one is %s", e.Run, e.Known[0])
	}
	return fmt.Sprintf("no run %q; the last ones are %s", e.Run, strings.Join(e.Known[:min(3, len(e.Known))], ", "))
}

// RunsAfter returns the runs of the history that follow a run, oldest first; all
// of them when run is empty. The error is an *UnknownRun.
func (p *Snapshot) RunsAfter(run string) ([]model.RunRecord, error) {
	runs := p.Runs()
	if run == "" {
		return runs, nil
	}
	unknown := &UnknownRun{Run: run}
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].Run == run {
			return runs[i+1:], nil
		}
		unknown.Known = append(unknown.Known, runs[i].Run)
	}
	return nil, unknown
}

// Report returns one run of the history with its report; "last" is the last run.
// The report is nil for a converged, killed or unfinished run.
func (p *Snapshot) Report(run string) (model.RunRecord, *model.Report, error) {
	missing := &UnknownRun{Run: run}
	runs := p.Runs()
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].Run == run || run == "last" {
			report, err := p.store.report(runs[i].Run)
			return runs[i], report, err
		}
		missing.Known = append(missing.Known, runs[i].Run)
	}
	return model.RunRecord{}, nil, missing
}

func (s Store) report(run string) (*model.Report, error) {
	path := s.reportFile(run)
	text, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, s.explain("read report", path, err)
	}
	var stored storedReport
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, &Error{fmt.Sprintf("report is damaged: %s: %v; remove the file, it is only history", path, err), err}
	}
	stored.Report.Times = stored.Times
	return &stored.Report, nil
}
