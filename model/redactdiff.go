package model

import "strings"

// redactDiff redacts the secrets in a unified diff. A secret that was rotated is no
// longer known, so a removed line is hidden as well when it stands against an added
// line with a secret: from the point at which the secret begins in the added line.
func redactDiff(diff string, redact func(string) string) string {
	after := redact(diff)
	if after == diff {
		return diff
	}
	lines := strings.Split(after, "\n")
	for i := 0; i < len(lines); {
		removed := countLines(lines[i:], '-')
		added := countLines(lines[i+removed:], '+')
		if removed > 0 && added > 0 {
			hideRemoved(lines[i:i+removed], lines[i+removed:i+removed+added])
		}
		i += max(1, removed+added)
	}
	return strings.Join(lines, "\n")
}

// countLines counts the leading lines with a sign. The header of a file ends them.
func countLines(lines []string, sign byte) (n int) {
	for n < len(lines) && lines[n] != "" && lines[n][0] == sign && !isHeader(lines[n:]) {
		n++
	}
	return n
}

// isHeader reports whether the lines begin with the header of a file.
func isHeader(lines []string) bool {
	return strings.HasPrefix(lines[0], "+++ ") ||
		strings.HasPrefix(lines[0], "--- ") && len(lines) > 1 && strings.HasPrefix(lines[1], "+++ ")
}

// hideRemoved hides the removed lines that stand against added lines with a secret: the
// lines with the same beginning. Without such a line, all of them may hold the secret.
func hideRemoved(removed, added []string) {
	for _, line := range added {
		front, _, ok := strings.Cut(line[1:], redacted)
		if !ok {
			continue
		}
		found := false
		for i, old := range removed {
			if front != "" && strings.HasPrefix(old[1:], front) {
				removed[i], found = "-"+front+redacted, true
			}
		}
		for i := range removed {
			if !found {
				removed[i] = "-" + redacted
			}
		}
	}
}
