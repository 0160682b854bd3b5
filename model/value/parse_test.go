package value_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model/value"
)

// outline is the parts of a text in one line: expressions in brackets.
func outline(parts []value.Part) string {
	var list []string
	for _, p := range parts {
		if p.Expr == nil {
			list = append(list, p.Text)
			continue
		}
		text := outlinePath(p.Expr)
		if p.Expr.Raw {
			text = "raw " + text
		}
		if p.Expr.HasDefault {
			text += " or " + p.Expr.Default
		}
		list = append(list, "<"+text+">")
	}
	return strings.Join(list, "|")
}

// outlinePath is a path in one line: keys that expressions name are in brackets.
func outlinePath(x *value.Expr) string {
	steps := []string{x.Root}
	for i, name := range x.Path {
		if key := x.Keys[i]; key != nil {
			name = "[" + outlinePath(key) + "]"
		}
		steps = append(steps, name)
	}
	return strings.Join(steps, ":")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"${var.x}", "<var:x>"},
		{"a${var.x}b${env.HOME}", "a|<var:x>|b|<env:HOME>"},
		{"${var.sites.0.name}", "<var:sites:0:name>"},
		{"${var.a-b_c}", "<var:a-b_c>"},
		{"${env.X:-a b:-c}d}", "<env:X or a b:-c>|d}"},
		{"${env.X:-}", "<env:X or >"},
		{"${env.X:-a\nb}", "<env:X or a\nb>"},
		{"${raw.var.x:-y}", "<raw var:x or y>"},
		{"${HOME} ${x:-y} ${x} $x $(x.y) {{.Names}} ${#a.b} ${1.x} ${ vars.x }", "${HOME} ${x:-y} ${x} $x $(x.y) {{.Names}} ${#a.b} ${1.x} ${ vars.x }"},
		{"$${var.x}", "${var.x}"},
		{"$${any.thing ${var.x}", "${any.thing |<var:x>"},
		{"$$${var.x}", "$${var.x}"},
		{"$$ ${var.x}", "$$ |<var:x>"},
		{"${var.x}${var.y}", "<var:x>|<var:y>"},
		{"${var.x}$${var.y}", "<var:x>|${var.y}"},
		{"${var.svc[host.family]}-", "<var:svc:[host:family]>|-"},
		{"${var.svc[host.family].port[0]['a b}c'][\"d\"]:-x}e}", "<var:svc:[host:family]:port:0:a b}c:d or x>|e}"},
		{"${raw.var.a[var.b[each.key].c].d}", "<raw var:a:[var:b:[each:key]:c]:d>"},
		{"${each.value[var.x]}", "<each:value:[var:x]>"},
		{"é${var.x}", "é|<var:x>"},
	} {
		parts, faults := value.Parse(tt.text)
		if got := outline(parts); got != tt.want || len(faults) > 0 {
			t.Errorf("%q: %s %v, want %s", tt.text, got, faults, tt.want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, message, suggestion string }{
		{"${vra.x}", `unknown value "${vra.…}"`, `did you mean "${var.…}"? Write $${vra. for the text itself`},
		{"${something.x}", `unknown value "${something.…}"`, "values begin with var, env, host, self, each; write $${something. for the text itself"},
		{"${VAR.x}", `unknown value "${VAR.…}"`, `did you mean "${var.…}"? Write $${VAR. for the text itself`},
		{"${var.x", `"${var.x" has no end`, `end it with "}"`},
		{"${var.}", `"${var.}" lacks a name`, "write a name after each dot"},
		{"${var..x}", `"${var..x}" lacks a name`, "write a name after each dot"},
		{"${var.x[y]}", `"${var.x[y]" has a wrong key`, "write ['y'] for the text, or [var.y] for the variable"},
		{"${var.x[y.z]}", `"${var.x[y.z]" has a wrong key`, "write a value as in [host.family], a text as in ['a'], or a number as in [0]"},
		{"${var.x['a]}", `"${var.x[" has a wrong key`, "write a value as in [host.family], a text as in ['a'], or a number as in [0]"},
		{"${var.x[var.a[]]}", `"${var.x[var.a[]" has a wrong key`, "write a value as in [host.family], a text as in ['a'], or a number as in [0]"},
		{"${raw.var[var.x]}", `"${raw.var[var.x]}" lacks a name`, "write ${raw.var.NAME}"},
		{"${var.x:=y}", `"${var.x:=y}" is not a path`, "write ${var.x:-y} for a default"},
		{"${var.x | upper}", `"${var.x | upper}" is not a path`, "write names with dots between them, as in ${var.x}, or [host.NAME] for a key, and :-TEXT after them for a default"},
		{"${ var.x }", `"${ var.x }" is not an expression`, "write ${var.x}, or $${ var.x } for the text itself"},
		{`${var["x"]}`, `"${var[\"x\"]}" is not an expression`, `write ${var.x}, or $${var["x"]} for the text itself`},
		{"${raw.x}", `"${raw.x}" needs a root`, "write ${raw.var.NAME}"},
		{"${raw.var}", `"${raw.var}" lacks a name`, "write ${raw.var.NAME}"},
		{"${env.X:-${var.y}}", `"${env.X:-${var.y}" has an expression in its default`, "a default is plain text: declare a var whose default is the other expression"},
	} {
		_, faults := value.Parse("a " + tt.text + " b")
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Message, strings.TrimSuffix(tt.message, `" has no end`)) || faults[0].Suggestion != tt.suggestion {
			t.Errorf("%q: %+v, want %q; %q", tt.text, faults, tt.message, tt.suggestion)
		}
	}
	if _, faults := value.Parse("${foo.x} ${var.x} ${bar.y} ${var.z"); len(faults) != 3 {
		t.Errorf("of three faults it tells %v", faults)
	}
}

// FuzzParse cuts any text: the parts make the text again, and what is escaped
// means itself.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"${var.x}", "a$${var.x}b", "$$${env.X:-y}", "${raw.var.x} ${foo.bar}", "${var.x:-", "${", "$${a.", "${var.${var.x}}", "$$$$${each.key}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, faults := value.Parse(text)
		if !value.HasExpression(text) && (len(faults) > 0 || len(parts) > 1 || len(parts) == 1 && parts[0].Text != text) {
			t.Errorf("%q has nothing in it, and is %v %v", text, parts, faults)
		}
		if len(faults) == 0 {
			var again strings.Builder
			for _, p := range parts {
				if p.Expr != nil {
					again.WriteString(p.Text)
				} else {
					again.WriteString(value.Escape(p.Text))
				}
			}
			back, faults := value.Parse(again.String())
			if diff := cmp.Diff(outline(parts), outline(back)); diff != "" || len(faults) > 0 {
				t.Errorf("%q made again is %q: %s %v", text, again.String(), diff, faults)
			}
		}
		escaped := value.Escape(text)
		parts, faults = value.Parse(escaped)
		if outline(parts) != text || len(faults) > 0 || len(parts) > 1 || len(parts) == 1 && parts[0].Expr != nil {
			t.Errorf("%q escaped is %q, which means %v %v", text, escaped, parts, faults)
		}
	})
}
