package shelltext_test

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/model/shelltext"
)

// Each line is a command in which % is a value. | separates words with blanks in them.
func TestReaderFindsTheArgumentsThatAShellReads(t *testing.T) {
	for line, want := range map[string]string{
		"sh|-c|echo %":                      "sh",
		"/bin/bash|-euo|pipefail|-c|echo %": "bash",
		"bash|-lc|%":                        "bash",
		"sudo|-u|app|sh|-ec|echo %":         "sh",
		"env|A=1|sh|-c|echo %":              "sh",
		"busybox|sh|-c|echo %":              "sh",
		"fish|--command=echo %":             "fish",
		"find|.|-exec|sh|-c|rm %|;":         "sh",
		"docker|exec|web|sh|-c|echo %":      "sh",
		"$SHELL|-c|echo %":                  "a shell",
		"\x00|-c|echo %":                    "a shell",
		"su|-c|echo %|app":                  "su",
		"su|-|app|-c|echo %":                "su",
		"su|app|--command=echo %":           "su",
		"runuser|-u|app|--command|echo %":   "runuser",
		"script|-qc|echo %|/dev/null":       "script",
		"flock|lock|-c|echo %":              "flock",
		"sg|staff|echo %":                   "sg",
		"ssh|host|echo %":                   "ssh",
		"ssh|host|echo|%":                   "ssh",
		"ssh|-p|22|-tt|host|--|echo %":      "ssh",
		"ssh|-o|ProxyCommand=nc %|host":     "ssh",
		"sshpass|-e|ssh|-p22|host|%":        "ssh",
		"watch|-n|2|ls %":                   "watch",
		"parallel|echo %|:::|a":             "parallel",
		"sh|-c|echo \"$1\"|sh|%":            "",
		"sh|script.sh|-c|%":                 "",
		"sh|%":                              "",
		"su|-c|id|%":                        "",
		"flock|%|-c|id":                     "",
		"script|-c|id|%":                    "",
		"ssh|%|uptime":                      "",
		"ssh|-p|%|host|uptime":              "",
		"ssh|-p%|host|uptime":               "",
		"watch|-x|ls|%":                     "",
		"watch|-n|%|ls":                     "",
		"parallel|echo|:::|%":               "",
		"tar|-c|%":                          "",
		"echo|%":                            "",
		"\x00|-x|%":                         "",
		"grep|-c|%|file":                    "",
	} {
		words := strings.Split(line, "|")
		for i, word := range words {
			front, _, ok := strings.Cut(word, "%")
			if !ok {
				continue
			}
			words[i] = strings.ReplaceAll(word, "%", "\x00")
			if got := shelltext.Reader(words, i, front); got != want {
				t.Errorf("%s: %q reads it, want %q", line, got, want)
			}
		}
	}
}
