package model

import (
	"errors"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// The patterns of a duration are compiled on first use, because most manifests
// have no duration.
var (
	bareNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	})
	durationPart = sync.OnceValue(func() *regexp.Regexp { // one number with its unit
		return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h|d|w)`)
	})
)

var durationUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ErrDuration and ErrUnit are the errors of ParseDuration. ErrUnit is for a bare
// number, the most common mistake.
var (
	ErrDuration = errors.New("want a duration such as 90s, 5m or 1d")
	ErrUnit     = errors.New("a duration needs a unit")
)

// ParseDuration parses a duration of a manifest or a flag: Go's form, also with d
// for 24 hours and w for seven days, and never negative. 0 needs no unit.
func ParseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	if bareNumber().MatchString(text) {
		return 0, ErrUnit
	}
	total := 0.0
	for rest := text; ; {
		part := durationPart().FindStringSubmatch(rest)
		if part == nil {
			return 0, ErrDuration
		}
		n, err := strconv.ParseFloat(part[1], 64)
		total += n * float64(durationUnits[part[2]])
		if err != nil || total >= 1<<63 {
			return 0, ErrDuration
		}
		if rest = rest[len(part[0]):]; rest == "" {
			if total > 0 && total < 1 { // 0 would mean no limit
				return 0, ErrDuration
			}
			return time.Duration(total), nil
		}
	}
}
