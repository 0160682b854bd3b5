package shape

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// ReadText reads one scalar as it is written. want describes it in messages.
func (r Reader) ReadText(n *yaml.Node, want string) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode || parse.IsNull(n) {
		return r.RefuseForm(n, want, "")
	}
	return r.ValueAt(n), true
}

// ReadLine reads one scalar of one line. The last newline of a block scalar does
// not count.
func (r Reader) ReadLine(n *yaml.Node) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode {
		return r.RefuseForm(n, model.Line.String(), "")
	}
	v := r.ValueAt(n)
	v.Text = strings.TrimSuffix(v.Text, "\n")
	switch {
	case v.Text == "":
		subject := "text"
		if r.Property == "name" || r.Property == "alias" {
			subject = r.Property
		}
		r.Refuse(v.Pos, "the "+subject+" is empty", "")
		return v, false
	case strings.Contains(v.Text, "\n"):
		r.Refuse(v.Pos, "want one line of text, got several", "")
		return v, false
	}
	return v, r.checkZero(n)
}

// readArgument reads a text that is passed to a program.
func (r Reader) readArgument(n *yaml.Node, want string) (model.Value, bool) {
	v, ok := r.ReadText(n, want)
	return v, ok && (v.Placeholders.Each() != nil || r.checkZero(n))
}

// ReadBool reads true or false, which must not be quoted.
func (r Reader) ReadBool(n *yaml.Node) (model.Value, bool) {
	v := r.ValueAt(n)
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		switch v.Bool = n.Value == "true"; n.Value {
		case "true", "false":
			return v, true
		}
	}
	suggestion := ""
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on", "y":
		suggestion = "write true, without quotes"
	case "false", "no", "off", "n":
		suggestion = "write false, without quotes"
	}
	return r.RefuseForm(n, model.Bool.String(), suggestion)
}

// decimal matches integers. Other notations, such as 0x1f or 1e3, are refused: YAML
// versions disagree about them.
var decimal = regexp.MustCompile(`^-?[0-9]+$`)

// readInteger reads an integer, for Count one of at least 1. Leading zeros are
// refused: some readers of YAML take such a number for an octal one.
func readInteger(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
	v, want := r.ValueAt(n), p.Kind.String()
	if n.Kind != yaml.ScalarNode || !decimal.MatchString(n.Value) {
		return r.RefuseForm(n, want, "")
	}
	digits := strings.TrimLeft(strings.TrimPrefix(n.Value, "-"), "0")
	number, err := strconv.Atoi(n.Value)
	switch {
	case n.Style != 0:
		return r.RefuseForm(n, want, "write "+n.Value+" without quotes")
	case digits != strings.TrimPrefix(n.Value, "-") && n.Value != "0":
		return r.RefuseForm(n, want+" without leading zeros", "")
	case err != nil || p.Kind == model.Count && number < 1:
		return r.RefuseForm(n, want, "")
	}
	v.Int = number
	return v, true
}

// readDuration reads a duration. A bare number has no unit and is refused.
func readDuration(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
	v := r.ValueAt(n)
	if n.Kind != yaml.ScalarNode {
		return r.RefuseForm(n, p.Kind.String(), "")
	}
	var err error
	v.Duration, err = model.ParseDuration(n.Value)
	switch {
	case errors.Is(err, model.ErrUnit):
		number := strings.TrimPrefix(n.Value, "-")
		r.Refuse(v.Pos, fmt.Sprintf("the duration %s has no unit", n.Value), fmt.Sprintf("write %ss for seconds, %sm for minutes", number, number))
		return v, false
	case err != nil:
		return r.RefuseForm(n, p.Kind.String(), "")
	}
	return v, true
}

// ReadChoice reads one of the words that a property may have.
func (r Reader) ReadChoice(n *yaml.Node, p *model.Property) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode {
		return r.RefuseForm(n, schema.Either(p.Choices), "")
	}
	v := r.ValueAt(n)
	v.Text = strings.TrimSuffix(v.Text, "\n")
	for _, choice := range p.Choices {
		if v.Text == choice {
			return v, true
		}
	}
	suggestion := entry.DidYouMean(schema.Near(v.Text, p.Choices, schema.ChoiceSynonyms))
	if suggestion == "" {
		suggestion = "write " + schema.Either(p.Choices)
	}
	r.Refuse(v.Pos, fmt.Sprintf("unknown %s %s", p.Name, parse.Quote(v.Text)), suggestion)
	return v, false
}
