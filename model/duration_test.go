package model

import (
	"errors"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want time.Duration
		err  error
	}{
		{"0", 0, nil},
		{"0s", 0, nil},
		{"90s", 90 * time.Second, nil},
		{"5m", 5 * time.Minute, nil},
		{"1h30m", 90 * time.Minute, nil},
		{"1.5h", 90 * time.Minute, nil},
		{"1d", 24 * time.Hour, nil},
		{"2w1d", 15 * 24 * time.Hour, nil},
		{"10ms", 10 * time.Millisecond, nil},
		{"5µs", 5 * time.Microsecond, nil},
		{"106751d", 106751 * 24 * time.Hour, nil},
		{"30", 0, ErrUnit},
		{"1.5", 0, ErrUnit},
		{"-5", 0, ErrUnit},
		{"0.0000001ns", 0, ErrDuration},
		{"-5s", 0, ErrDuration},
		{"", 0, ErrDuration},
		{"soon", 0, ErrDuration},
		{"inf", 0, ErrDuration},
		{"5 m", 0, ErrDuration},
		{"5m!", 0, ErrDuration},
		{"5min", 0, ErrDuration},
		{"1y", 0, ErrDuration},
		{"200000d", 0, ErrDuration},
		{".5s", 0, ErrDuration},
	} {
		if got, err := ParseDuration(tt.text); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v, %v", tt.text, got, err, tt.want, tt.err)
		}
	}
}
