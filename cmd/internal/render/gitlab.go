package render

import (
	"fmt"
	"strings"
	"time"
)

// SectionStart begins a part of a GitLab job's log that can be folded. Number
// makes its name one of a kind.
func SectionStart(id string, number int, at time.Time) string {
	return fmt.Sprintf("\x1b[0Ksection_start:%d:%s\r\x1b[0K%s\n", at.Unix(), sectionName(id, number), Escape(id))
}

// SectionEnd ends the part that SectionStart began with this id and number.
func SectionEnd(id string, number int, at time.Time) string {
	return fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", at.Unix(), sectionName(id, number))
}

// sectionName keeps of an id what GitLab takes in the name of a section.
func sectionName(id string, number int) string {
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return '_'
	}, id)
	return fmt.Sprintf("settle_%.40s_%d", plain, number)
}
