package render

import (
	"fmt"
	"strings"
	"time"
)

// SectionStart returns the line that begins a foldable section of a GitLab job's
// log. The number makes the name of the section unique.
func SectionStart(id string, number int, at time.Time) string {
	return fmt.Sprintf("\x1b[0Ksection_start:%d:%s\r\x1b[0K%s\n", at.Unix(), sectionName(id, number), Escape(id))
}

// SectionEnd returns the line that ends the section of this id and number.
func SectionEnd(id string, number int, at time.Time) string {
	return fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", at.Unix(), sectionName(id, number))
}

// sectionName replaces the characters that GitLab does not allow in the name of a
// section.
func sectionName(id string, number int) string {
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return '_'
	}, id)
	return fmt.Sprintf("settle_%.40s_%d", plain, number)
}
