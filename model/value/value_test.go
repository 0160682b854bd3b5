package value_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model/value"
)

var site = value.Map{
	{Key: "name", Value: "web"}, {Key: "port", Value: 80}, {Key: "tls", Value: true},
	{Key: "hosts", Value: []any{"a", value.Map{{Key: "x", Value: 1}}}},
}

func TestAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path  string
		want  any
		steps int
	}{
		{"name", "web", 1}, {"port", 80, 1}, {"hosts.0", "a", 2}, {"hosts.1.x", 1, 3},
		{"hosts.2", site[3].Value, 1}, {"hosts.01", site[3].Value, 1}, {"hosts.-1", site[3].Value, 1},
		{"name.x", "web", 1}, {"nothing.at.all", site, 0},
	} {
		got, steps := value.At(site, strings.Split(tt.path, "."))
		if diff := cmp.Diff(tt.want, got); diff != "" || steps != tt.steps {
			t.Errorf("%s: %d steps, want %d: %s", tt.path, steps, tt.steps, diff)
		}
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	other := value.Map{{Key: "hosts", Value: "none"}, {Key: "more", Value: value.Map{{Key: "a", Value: 1}}}}
	before := value.JSON(site)
	sum := site.Merge(other).Merge(value.Map{}.With([]string{"more", "b"}, 2)).With([]string{"more", "a"}, "x")
	if got := value.JSON(sum); got != `{"name":"web","port":80,"tls":true,"hosts":"none","more":{"a":"x","b":2}}` {
		t.Error(got)
	}
	if value.JSON(site) != before {
		t.Errorf("the map below became %s", value.JSON(site))
	}
	native := value.ToNative(sum)
	if diff := cmp.Diff(native, value.ToNative(value.FromNative(native))); diff != "" {
		t.Error(diff)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		typ  value.Type
		want string
	}{
		{"8", value.Int, "8"}, {"-8", value.Int, "-8"}, {"0", value.Int, "0"}, {"true", value.Bool, "true"}, {"false", value.Bool, "false"},
		{"a, b,c", value.List, `["a","b","c"]`}, {"", value.List, "[]"}, {"8", value.String, "8"}, {"", value.String, ""},
		{"08", value.Int, `want an integer, got "08"`}, {"1e3", value.Int, `want an integer, got "1e3"`}, {"99999999999999999999", value.Int, `want an integer, got "99999999999999999999"`},
		{"yes", value.Bool, `want true or false, got "yes"`}, {"a", value.Table, `want a map, got the text "a"`},
	} {
		v, err := value.ParseAs(tt.text, tt.typ)
		got := value.Show(v)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || err == nil && value.TypeOf(v) != tt.typ {
			t.Errorf("%q as %s: %s, want %s", tt.text, string(tt.typ), got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]any{"8": 8, "-1": -1, "0": 0, "true": true, "false": false, "yes": "yes", "0755": "0755", "1.10": "1.10", "-0": "-0", "": "", "1e3": "1e3"} {
		if got := value.ParsePlain(word); got != want {
			t.Errorf("%q is %v, want %v", word, got, want)
		}
	}
}

func TestAs(t *testing.T) {
	t.Parallel()
	if v, err := value.Convert(8, value.String); v != "8" || err != nil {
		t.Errorf("8 as a text: %v, %v", v, err)
	}
	for _, tt := range []struct {
		v    any
		typ  value.Type
		want string
	}{
		{"8", value.Int, `want an integer, got the text "8"`},
		{true, value.Int, "want an integer, got true"},
		{[]any{}, value.String, "want a text, got a list"},
		{strings.Repeat("é", 100), value.List, `want a list, got the text "` + strings.Repeat("é", 60) + `…"`},
	} {
		if _, err := value.Convert(tt.v, tt.typ); err == nil || err.Error() != tt.want {
			t.Errorf("%v as %s: %v, want %s", tt.v, string(tt.typ), err, tt.want)
		}
	}
}

func TestMergeOfValues(t *testing.T) {
	t.Parallel()
	below := value.Map{{Key: "a", Value: 1}, {Key: "m", Value: value.Map{{Key: "x", Value: 1}, {Key: "l", Value: []any{"a", 1}}}}, {Key: "l", Value: []any{1}}}
	above := value.Map{{Key: "m", Value: value.Map{{Key: "l", Value: []any{1, "1", "a", "b", "b"}}, {Key: "y", Value: true}}}, {Key: "l", Value: "text"}, {Key: "z", Value: 2}}
	before := value.JSON(below)
	if got, want := value.JSON(value.Merge(below, above)), `{"a":1,"m":{"x":1,"l":["a",1,"1","b"],"y":true},"l":"text","z":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if value.JSON(below) != before {
		t.Errorf("the map below became %s", value.JSON(below))
	}
	for _, v := range []any{"x", 1, []any{1}, below} {
		if got := value.Merge(v, 2); got != 2 {
			t.Errorf("%v with 2 merged into it is %v", v, got)
		}
	}
}
