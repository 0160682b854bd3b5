package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// MaxReply is how much a helper may write.
const MaxReply = 16 << 20

// Problem is a mistake in a reply, or a warning about it.
type Problem struct {
	Path string // as in $.configuration.loglevel; "" for the reply as a whole
	model.Advice
}

// String returns the problem as one line: path: message; suggestion.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Advice.String()
	}
	return p.Path + ": " + p.Advice.String()
}

// Reply is the answer of a helper, read but not judged.
type Reply struct {
	Defer          bool
	Shutdown       bool
	Msg            string
	Key            string
	Certificate    string
	CA             string
	SSLDir         string
	Claims         *ServerClaims // nil: none
	Configuration  map[string]string
	ActionPolicies map[string]string // nil: the reply says nothing of them
	OPAPolicies    map[string]string // the same
	Upgrade        string

	null     bool
	received []string  // the keys, as written
	unknown  []Problem // keys that mean nothing
	claims   []Problem // claims and permissions that do not exist
	unused   []Problem // claims that exist and do not count
	empty    []Problem // nulls where a text belongs
}

// ServerClaims are the claims that a reply requests for the server's token.
type ServerClaims struct {
	OU          string
	Exp         *float64 // Unix time in seconds; nil or 0: not given
	Collectives []string
	PubSubjects []string
	Permissions *Permissions // nil: none
}

// Permissions are the abilities that a server token can have.
type Permissions struct{ Submission, Streams, Governor, ServiceHost bool }

// ParseReply reads a reply. What it cannot be read as is an error that says all
// that is wrong, each with its JSON path; whether to do what it says is for Judge.
func ParseReply(data []byte, redact func(string) string) (*Reply, error) {
	if len(data) == 0 {
		return nil, errors.New("zero bytes received")
	}
	if len(data) > MaxReply {
		return nil, fmt.Errorf("more than %d MiB received", MaxReply>>20)
	}
	doc, wrong, err := read(data, redact)
	if err != nil {
		return nil, err
	}
	r := &Reply{null: doc.shape == null}
	d := decoder{wrong: wrong}
	d.reply(doc, r)
	if len(d.wrong) > 0 {
		lines := make([]string, len(d.wrong))
		for i, f := range d.wrong {
			lines[i] = f.String()
		}
		return nil, errors.New(strings.Join(lines, ", "))
	}
	if redact != nil { // before it is cut for a reason
		r.Msg = redact(r.Msg)
	}
	return r, nil
}

// decoder turns nodes into what the contract has, and collects what does not fit.
type decoder struct{ wrong []Problem }

func (d *decoder) expected(path string, want shape, got node) {
	d.wrong = append(d.wrong, Problem{path, model.Advice{Message: fmt.Sprintf("expected %s, got %s", want, got.shape)}})
}

// fits says whether a node has the shape, and tells when it has another one.
// null is the zero value of everything.
func (d *decoder) fits(path string, want shape, got node) bool {
	if got.shape != want && got.shape != null {
		d.expected(path, want, got)
	}
	return got.shape == want
}

func (d *decoder) text(path string, n node, to *string) {
	if d.fits(path, text, n) {
		*to = n.text
	}
}

func (d *decoder) truth(path string, n node, to *bool) {
	if d.fits(path, boolean, n) {
		*to = n.truth
	}
}

func (d *decoder) texts(path string, n node, to *[]string) {
	if !d.fits(path, array, n) {
		return
	}
	for i, item := range n.items {
		var s string
		d.text(path+"["+strconv.Itoa(i)+"]", item, &s)
		*to = append(*to, s)
	}
}

// each calls the function of every known key of an object, whatever its case,
// and returns the keys that have none.
func (d *decoder) each(path string, n node, known map[string]func(path string, n node)) (unknown []Problem) {
	first := map[string]string{} // by known key, as written
	for _, f := range n.fields {
		name, ok := match(f.key, known)
		at := join(path, f.key)
		if !ok {
			u := Problem{at, model.Advice{Message: "is not part of the contract"}}
			if near := spelling.Suggest(f.key, slices.Sorted(maps.Keys(known))); near != "" {
				u.Suggestion = fmt.Sprintf("did you mean %q?", near)
			}
			unknown = append(unknown, u)
			continue
		}
		if before, ok := first[name]; ok && before != f.key { // the reader has told of equal ones
			d.wrong = append(d.wrong, Problem{at, model.Advice{Message: fmt.Sprintf("is given twice: before as %q, and case does not matter", before)}})
		}
		first[name] = f.key
		known[name](at, f.node)
	}
	return unknown
}

// match finds the known key that equals a key but for case.
func match[V any](key string, known map[string]V) (string, bool) {
	if _, ok := known[key]; ok {
		return key, true
	}
	for name := range known {
		if strings.EqualFold(name, key) {
			return name, true
		}
	}
	return "", false
}

func (d *decoder) reply(doc node, r *Reply) {
	for _, f := range doc.fields {
		r.received = append(r.received, f.key)
	}
	to := func(s *string) func(string, node) { return func(path string, n node) { d.text(path, n, s) } }
	mapTo := func(m *map[string]string) func(string, node) {
		return func(path string, n node) { d.textMap(path, n, m, r) }
	}
	r.unknown = d.each("$", doc, map[string]func(string, node){
		"defer":           func(path string, n node) { d.truth(path, n, &r.Defer) },
		"shutdown":        func(path string, n node) { d.truth(path, n, &r.Shutdown) },
		"msg":             to(&r.Msg),
		"key":             to(&r.Key),
		"certificate":     to(&r.Certificate),
		"ca":              to(&r.CA),
		"ssldir":          to(&r.SSLDir),
		"server_claims":   func(path string, n node) { d.serverClaims(path, n, r) },
		"configuration":   mapTo(&r.Configuration),
		"action_policies": mapTo(&r.ActionPolicies),
		"opa_policies":    mapTo(&r.OPAPolicies),
		"upgrade":         to(&r.Upgrade),
	})
}

func (d *decoder) textMap(path string, n node, to *map[string]string, r *Reply) {
	if !d.fits(path, object, n) {
		return
	}
	*to = make(map[string]string, len(n.fields))
	for _, f := range n.fields {
		at := join(path, f.key)
		var s string
		d.text(at, f.node, &s)
		if f.shape == null {
			r.empty = append(r.empty, Problem{at, model.Advice{Message: "is null: taken as an empty text"}})
		}
		(*to)[f.key] = s
	}
}

func (d *decoder) serverClaims(path string, n node, r *Reply) {
	if !d.fits(path, object, n) {
		return
	}
	c := &ServerClaims{}
	r.Claims = c
	unused := func(want ...shape) func(string, node) {
		return func(path string, n node) {
			if n.shape != null && !slices.Contains(want, n.shape) {
				d.expected(path, want[0], n)
			}
			r.unused = append(r.unused, Problem{path, model.Advice{Message: "does not count: settle sets that claim itself"}})
		}
	}
	unknown := d.each(path, n, map[string]func(string, node){
		"ou":           func(path string, n node) { d.text(path, n, &c.OU) },
		"exp":          func(path string, n node) { d.time(path, n, &c.Exp) },
		"collectives":  func(path string, n node) { d.texts(path, n, &c.Collectives) },
		"pub_subjects": func(path string, n node) { d.texts(path, n, &c.PubSubjects) },
		"permissions":  func(path string, n node) { d.permissions(path, n, r) },
		"identity":     unused(text), "purpose": unused(text), "tcs": unused(text), "public_key": unused(text),
		"iss": unused(text), "sub": unused(text), "jti": unused(text), "aud": unused(text, array),
		"issexp": unused(number), "nbf": unused(number), "iat": unused(number),
	})
	for i := range unknown {
		f := &unknown[i]
		f.Message = "is not a claim of a server token"
		if strings.HasSuffix(f.Path, "additional_publish_subjects") { // what upstream's manual calls it
			f.Suggestion = `did you mean "pub_subjects"?`
		}
	}
	r.claims = append(unknown, r.claims...)
}

func (d *decoder) permissions(path string, n node, r *Reply) {
	if !d.fits(path, object, n) {
		return
	}
	p := &Permissions{}
	r.Claims.Permissions = p
	to := func(b *bool) func(string, node) { return func(path string, n node) { d.truth(path, n, b) } }
	unknown := d.each(path, n, map[string]func(string, node){
		"submission": to(&p.Submission), "streams": to(&p.Streams), "governor": to(&p.Governor), "service_host": to(&p.ServiceHost),
	})
	for _, f := range unknown {
		f.Message = "is not a permission of a server"
		r.claims = append(r.claims, f)
	}
}

func (d *decoder) time(path string, n node, to **float64) {
	if !d.fits(path, number, n) {
		return
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		d.wrong = append(d.wrong, Problem{path, model.Advice{Message: "is not a time: " + n.text + " is out of range"}})
		return
	}
	*to = &f
}
