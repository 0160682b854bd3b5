package apt

import "strings"

// Compare orders two Debian versions as dpkg does (deb-version(7)): -1 when a is
// lower, 0 when both are equal, 1 when a is higher.
func Compare(a, b string) int {
	epochA, upstreamA, revisionA := splitVersion(a)
	epochB, upstreamB, revisionB := splitVersion(b)
	if c := compareDigits(epochA, epochB); c != 0 {
		return c
	}
	if c := comparePart(upstreamA, upstreamB); c != 0 {
		return c
	}
	return comparePart(revisionA, revisionB)
}

// splitVersion returns the three parts of a version. A missing epoch or revision
// is 0.
func splitVersion(v string) (epoch, upstream, revision string) {
	epoch, revision = "0", "0"
	if before, after, ok := strings.Cut(v, ":"); ok {
		epoch, v = before, after
	}
	if at := strings.LastIndexByte(v, '-'); at >= 0 {
		v, revision = v[:at], v[at+1:]
	}
	return epoch, v, revision
}

// comparePart compares runs of other characters and runs of digits in turn.
func comparePart(a, b string) int {
	for a != "" || b != "" {
		textA, restA := cutRun(a, false)
		textB, restB := cutRun(b, false)
		if c := compareText(textA, textB); c != 0 {
			return c
		}
		digitsA, nextA := cutRun(restA, true)
		digitsB, nextB := cutRun(restB, true)
		if c := compareDigits(digitsA, digitsB); c != 0 {
			return c
		}
		a, b = nextA, nextB
	}
	return 0
}

// cutRun cuts the leading run of digits, or of other characters, off a text.
func cutRun(s string, digits bool) (run, rest string) {
	at := 0
	for at < len(s) && isDigit(s[at]) == digits {
		at++
	}
	return s[:at], s[at:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// compareText compares character by character: a tilde sorts before the end,
// letters sort before everything else.
func compareText(a, b string) int {
	for i := range max(len(a), len(b)) {
		if c := weight(a, i) - weight(b, i); c != 0 {
			return sign(c)
		}
	}
	return 0
}

func weight(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '~':
		return -1
	case 'a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z':
		return int(s[i])
	}
	return int(s[i]) + 256
}

func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return sign(len(a) - len(b))
	}
	return strings.Compare(a, b)
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
