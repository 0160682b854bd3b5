package release

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var digest = "sha256:" + strings.Repeat("ab", 32)

func example() *Release {
	return &Release{
		Schema: Schema, Fleet: "prod", Name: "web", Version: 17, Digest: digest, Size: 10,
		Created: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Expires: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC),
	}
}

func TestParseReturnsWhatWasEncoded(t *testing.T) {
	t.Parallel()
	want := example()
	want.MayRevertTo, want.Notes, want.Settle = 16, "commit 1", ">=0.3"
	got, err := Parse(want.Encode())
	if err != nil || *got != *want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"another schema":  {map[string]any{"schema": "settle.release/v2"}, `its schema is "settle.release/v2", not settle.release/v1`},
		"an unknown key":  {map[string]any{"when": "later"}, `unknown field "when": a newer settle-fleet may understand it`},
		"a bad name":      {map[string]any{"name": "a/b"}, `name "a/b": use up to 64 letters, digits, - and _`},
		"a bad fleet":     {map[string]any{"fleet": ""}, `fleet "": use up to 64 letters, digits, - and _`},
		"no version":      {map[string]any{"version": 0}, "version 0: versions begin with 1"},
		"a bad digest":    {map[string]any{"digest": "sha256:xyz"}, `digest "sha256:xyz" is not sha256: and 64 hex digits`},
		"no size":         {map[string]any{"size": 0}, "size 0 is not a number of bytes"},
		"no expiry":       {map[string]any{"expires": nil}, "it does not say when it expires"},
		"a newer revert":  {map[string]any{"may_revert_to": 17}, "may_revert_to 17 is not an older version"},
		"a bad minimum":   {map[string]any{"settle": "<2"}, `settle "<2": write a minimum such as >=0.3`},
		"a version range": {map[string]any{"settle": ">=1.2,<2"}, `settle ">=1.2,<2": write a minimum such as >=0.3`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fields map[string]any
			if err := json.Unmarshal(example().Encode(), &fields); err != nil {
				t.Fatal(err)
			}
			for key, value := range c.change {
				if fields[key] = value; value == nil {
					delete(fields, key)
				}
			}
			text, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(text); err == nil || err.Error() != "read release: "+c.want {
				t.Errorf("says %v", err)
			}
		})
	}
	for _, text := range []string{"", "[]", "null", `{"schema":"settle.release/v1"} x`, string(example().Encode()) + "{}"} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if _, err := Parse([]byte(strings.Repeat(" ", MaxText+1))); err == nil || !strings.Contains(err.Error(), "longer than 65536 bytes") {
		t.Errorf("says %v", err)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	other := "sha256:" + strings.Repeat("cd", 32)
	for name, c := range map[string]struct {
		known  Known
		change func(*Release)
		now    time.Time
		revert bool
		want   string
	}{
		"the first":                 {now: now},
		"a newer":                   {known: Known{Highest: 16}, now: now},
		"the same again":            {known: Known{Highest: 17, Digest: digest}, now: now},
		"another bundle":            {known: Known{Highest: 17, Digest: other}, now: now, want: "web@17 names another bundle than before: a version is never used twice"},
		"an older":                  {known: Known{Highest: 18}, now: now, want: "web@17 is older than web@18, which this machine has had: publish it again under a new version"},
		"an older that is reverted": {known: Known{Highest: 18, MayRevert: 17, Kept: map[int64]string{17: digest}}, now: now, revert: true},
		"a revert not allowed":      {known: Known{Highest: 18, MayRevert: 16}, now: now, revert: true, want: "web@17 is older than web@18, which this machine has had: publish it again under a new version"},
		"an older without a revert": {known: Known{Highest: 18, MayRevert: 17, Kept: map[int64]string{17: digest}}, now: now, want: "web@17 is older than web@18, which this machine has had: publish it again under a new version"},
		"expired":                   {now: now.AddDate(1, 0, 0), want: "web@17 expired at 2027-02-01T00:00:00Z: publish it again"},
		"expired and kept":          {known: Known{Highest: 18, MayRevert: 17, Kept: map[int64]string{17: digest}}, now: now.AddDate(1, 0, 0), revert: true},
		"kept with another digest":  {known: Known{Highest: 18, MayRevert: 17, Kept: map[int64]string{17: other}}, now: now, revert: true, want: "web@17 names another bundle than before: a version is never used twice"},
		"a clock a year behind":     {now: now.AddDate(-1, 0, 0)},
		"another fleet":             {now: now, change: func(r *Release) { r.Fleet = "test" }, want: "web@17 is for fleet test, not for web of fleet prod"},
		"another name":              {now: now, change: func(r *Release) { r.Name = "base" }, want: "base@17 is for fleet prod, not for web of fleet prod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := example()
			if c.change != nil {
				c.change(r)
			}
			err := c.known.Accept(r, "prod", "web", c.now, c.revert)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("says %v", err)
			}
		})
	}
}

func TestTakeRemembersTheHighest(t *testing.T) {
	t.Parallel()
	newer, older := example(), example()
	newer.Version, newer.MayRevertTo = 18, 17
	k := Known{}.Take(older).Take(newer).Take(older)
	if k.Highest != 18 || k.MayRevert != 17 {
		t.Errorf("%+v", k)
	}
}

func TestAcceptRollout(t *testing.T) {
	t.Parallel()
	r := OpenAll("prod", "web", 17, 16, 5)
	text := r.Encode()
	k := Known{}.FollowRollout(text, r)
	if err := k.AcceptRollout(text, r, "prod", "web"); err != nil {
		t.Error(err)
	}
	older, changed, foreign := *r, *r, *r
	older.N, changed.Version, foreign.Fleet = 4, 18, "test"
	for want, r := range map[string]*Rollout{
		"the rollout has n 4, older than 5, which this machine has seen":  &older,
		"the rollout with n 5 is another text than before":                &changed,
		"the rollout is for web of fleet test, not for web of fleet prod": &foreign,
	} {
		if err := k.AcceptRollout(r.Encode(), r, "prod", "web"); err == nil || err.Error() != want {
			t.Errorf("says %v, want %s", err, want)
		}
	}
}

func TestSelector(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"role": "web", "host.family": "debian"}
	for text, want := range map[string]bool{
		"": true, "web1.example.com": true, "web1": false, "web*": true, "*.example.com": true, "db*": false,
		"role=web": true, "role=db": false, "role=w*": true, "site=fra": false, "!site=fra": true, "!role=web": false,
		"host.family=debian": true, "role=web,host.family=rhel": false, "role=web,!db*": true,
	} {
		s, err := ParseSelector(text)
		if err != nil || s.Matches("web1.example.com", labels) != want {
			t.Errorf("%q: %v, %v", text, !want, err)
		}
	}
	for _, text := range []string{",", "a b", "a,,b", "=x", "a=b=c", "[a", "!"} {
		if _, err := ParseSelector(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestSatisfiesSettle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, minimum string
		want             bool
	}{{"0.3.0", ">=0.3", true}, {"0.2.9", ">=0.3", false}, {"1.0.0-rc1", ">=1", true}, {"0.3", "", true}, {"what", ">=0.1", false}, {"0.10.0", ">=0.9", true}} {
		minimum, err := MinimumSettle(c.minimum)
		if err != nil || SatisfiesSettle(c.version, minimum) != c.want {
			t.Errorf("%s %s: %v", c.version, c.minimum, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example().Encode())
	f.Add(OpenAll("prod", "web", 17, 16, 5).Encode())
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Parse(text); err == nil {
			if again, err := Parse(r.Encode()); err != nil || again.Digest != r.Digest || again.Version != r.Version {
				t.Errorf("%v, %v", again, err)
			}
		}
		if r, err := ParseRollout(text); err == nil {
			r.IsOpen("web1", nil)
		}
	})
}
