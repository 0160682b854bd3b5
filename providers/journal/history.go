package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model"
)

// Keep keeps the report of a run that did something; of one that found all as
// declared the line is enough that Finish writes. What became of the report
// belongs to how the run ended, so this comes before Finish.
func (j *Journal) SaveReport(report *model.Report) error {
	if past := j.historyRecord(report); past.Converged() {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.saveReport(report)
}

// past is the run as the history will have it.
func (j *Journal) historyRecord(report *model.Report) model.RunRecord {
	return model.RunRecord{
		Run: j.self.Run, Started: j.self.Since, DurationMS: report.DurationMS, User: j.self.User,
		ExitCode: &report.ExitCode, Summary: report.Summary,
	}
}

// Finish ends the run in the journal. The history keeps the last runs of each
// sort, as many as keep says (model.DefaultKeep for 0).
func (j *Journal) Finish(report *model.Report, keep int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	past := j.historyRecord(report)
	fact := j.self.runRecord()
	fact.Kind, fact.Took, fact.Exit, fact.Summary, fact.Keep = model.RecordDone, past.DurationMS, past.ExitCode, &past.Summary, keep
	if n := len(j.pending) - 1; n >= 0 && j.pending[n].Run == j.self.Run {
		j.pending = j.pending[:n] // the end says it all
	}
	if err := j.append([]model.Record{fact}, !past.Converged()); err != nil {
		return err
	}
	if past.Converged() {
		return nil // one line drops no report
	}
	return errors.Join(j.prune(), j.pruneBackups())
}

func (s Store) reportFile(run string) string { return filepath.Join(s.Path(), "runs", run+".json") }

func (j *Journal) saveReport(report *model.Report) error {
	path := j.store.reportFile(j.self.Run)
	text, err := json.Marshal(report)
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

// prune removes the reports that the history has dropped.
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
		if err == nil && !kept[file.Name()] {
			err = os.Remove(filepath.Join(dir, file.Name()))
		}
	}
	if err != nil {
		return j.store.explain("prune reports", dir, err)
	}
	return nil
}

// NoRun is the error of a run that the history does not have.
type UnknownRun struct {
	Run   string
	Known []string // the runs that it has, the last one first
}

// Error says which run is missing, and which are there.
func (e *UnknownRun) Error() string {
	switch {
	case len(e.Known) == 0:
		return "no runs yet: settle apply makes the first"
	case len(e.Known) == 1:
		return fmt.Sprintf("no run %q; the only one is %s", e.Run, e.Known[0])
	}
	return fmt.Sprintf("no run %q; the last ones are %s", e.Run, strings.Join(e.Known[:min(3, len(e.Known))], ", "))
}

// Report returns one run of the history with its report, for "last" that of
// the last run. The report is nil when the run left none: it found all as
// declared, was killed, or goes on.
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
	var report model.Report
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, &Error{fmt.Sprintf("report is damaged: %s: %v; remove the file, it is only history", path, err), err}
	}
	return &report, nil
}
