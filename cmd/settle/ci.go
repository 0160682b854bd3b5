package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/settle-cm/settle/model"
)

// detectCI returns the system that runs the pipeline: the one that was named,
// or the one that its variables give away.
func detectCI(flag string) string {
	switch {
	case flag != "auto":
		return flag
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	case os.Getenv("GITLAB_CI") == "true":
		return "gitlab"
	}
	return "none"
}

// annotation is a problem as GitHub shows it beside the line of the manifest.
func annotation(p model.Problem) string {
	message := p
	message.Pos = model.Pos{}
	return fmt.Sprintf("::error file=%s,line=%d,col=%d::%s",
		workflowProperty(p.File), max(p.Line, 1), max(p.Column, 1), workflowText(message.String()))
}

// A workflow command ends at the end of its line, and its properties at a comma
// or a colon: GitHub decodes them from percent signs.
var (
	workflowEscapes  = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	workflowText     = strings.NewReplacer(workflowEscapes...).Replace
	workflowProperty = strings.NewReplacer(append(workflowEscapes, ":", "%3A", ",", "%2C")...).Replace
)
