package apt

import (
	"regexp"
	"strings"

	"github.com/settle-cm/settle/model/packages"
)

// queryFormat makes dpkg-query print one line for each package of the database.
const queryFormat = `${Package}\t${Architecture}\t${Version}\t${db:Status-Want} ${db:Status-Eflag} ${db:Status-Status}\n`

// details names dpkg's states of packages that are not fully installed.
var details = map[string]string{
	"half-installed":   "half-installed",
	"half-configured":  "not configured: its maintainer script failed or was interrupted",
	"unpacked":         "unpacked, not configured",
	"triggers-awaited": "waits for the trigger of another package",
	"triggers-pending": "its trigger has not run",
}

// ParseTable reads the output of dpkg-query in queryFormat.
func ParseTable(output string) packages.Table {
	table := packages.Table{}
	for line := range strings.Lines(output) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 {
			continue
		}
		status := strings.Fields(fields[3])
		if len(status) != 3 {
			continue
		}
		p := packages.Package{Name: fields[0], Arch: fields[1], Version: fields[2], Held: status[0] == "hold"}
		switch {
		case status[1] != "ok":
			p.State, p.Detail = packages.Broken, "has to be installed again ("+status[1]+")"
		case status[2] == "installed":
			p.State = packages.Installed
		case status[2] == "config-files":
			p.State = packages.ConfigFiles
		case status[2] == "not-installed":
			continue
		default:
			p.State, p.Detail = packages.Broken, details[status[2]]
		}
		table[p.Name] = append(table[p.Name], p)
	}
	return table
}

// ParsePolicy reads the output of apt-cache policy. apt-cache also answers for
// names that fit as a pattern, so only the names that were asked for are kept.
func ParsePolicy(output string, names []string) map[string]packages.Offer {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	offers := map[string]packages.Offer{}
	name := ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case line != "" && line[0] != ' ':
			name = strings.TrimSuffix(line, ":")
		case !wanted[name]:
		case strings.HasPrefix(trimmed, "Candidate: "):
			offer := offers[name]
			if offer.Candidate = strings.TrimPrefix(trimmed, "Candidate: "); offer.Candidate == "(none)" {
				offer.Candidate = ""
			}
			offers[name] = offer
		case versionLine.MatchString(line):
			offer := offers[name]
			offer.Versions = append(offer.Versions, versionLine.FindStringSubmatch(line)[1])
			offers[name] = offer
		}
	}
	return offers
}

// versionLine matches a version in apt-cache's version table: five characters of
// indentation or of the mark of the installed version, the version, its priority.
var versionLine = regexp.MustCompile(`^ (?:    |\*\*\* )(\S+) -?\d+$`)

// simulated matches the lines of apt-get -s that say what it would do.
var simulated = regexp.MustCompile(`^(Inst|Remv|Purg) (\S+)(?: \[([^]]*)\])?(?: \(([^ )]+)[^)]*\))?`)

// ParseSimulation reads the output of apt-get -s.
func ParseSimulation(output string) []packages.Change {
	var changes []packages.Change
	for line := range strings.Lines(output) {
		m := simulated.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		c := packages.Change{Name: m[2], Old: m[3], New: m[4]}
		if m[1] != "Inst" {
			c.New = ""
			if c.Old == "" { // of a package that was removed before only its configuration files go
				c.Old = "configuration files"
			}
		}
		changes = append(changes, c)
	}
	return changes
}

// failedScript matches dpkg's message about a maintainer script that failed.
var failedScript = regexp.MustCompile(`(?:installed|new|old) (\S+) package (\S+) script subprocess returned error exit status (\d+)`)

// firstError returns the line of apt-get's output that says why it failed.
func firstError(output string) string {
	if m := failedScript.FindStringSubmatch(output); m != nil {
		return "the " + m[2] + " script of " + m[1] + " failed: exit " + m[3]
	}
	for line := range strings.Lines(output) {
		if at := strings.Index(line, " : Depends: "); at > 0 { // the first unmet dependency says more than the E: line
			return strings.TrimSpace(line[:at]) + " depends on " + strings.TrimSpace(line[at+len(" : Depends: "):])
		}
	}
	for line := range strings.Lines(output) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "E: "); ok && !strings.Contains(text, "Sub-process") {
			return text
		}
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if last := strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "E: "); last != "" {
		return last
	}
	return "apt-get gave no reason"
}
