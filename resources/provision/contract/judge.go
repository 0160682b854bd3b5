package contract

import (
	"crypto"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// Features are the features that a site has turned on.
type Features struct{ PKI, Ed25519, JWT, Upgrades bool }

// Situation is what Judge knows beside the reply.
type Situation struct {
	Identity   string
	Now        time.Time
	Features   Features
	Version    string           // of the running server, "" when it is not known
	NoUpgrade  bool             // an upgrade has failed and was optional: go on without
	Key        crypto.PublicKey // of our CSR, or of the private key that is there; nil: none
	SSLDir     string           // the directory of credentials; "": the reply names it
	Directory  string           // of the provisioned server
	SigningKey string           // the file of the issuer's key, "" for none
}

// Action is the action that a reply requests.
type Action int

// The actions, in the order in which a reply is asked for them.
const (
	Refuse   Action = iota // nothing: the reply has errors
	Defer                  // leave the server alone, try again later
	Shutdown               // stop the server
	Upgrade                // upgrade it, and ask again another time
	Apply                  // make the server what the reply says
)

// String names the action.
func (a Action) String() string {
	return [...]string{"refuse", "defer", "shutdown", "upgrade", "apply"}[a]
}

// Verdict is the decision about a reply.
type Verdict struct {
	Action   Action
	Reason   string    // for Defer and Shutdown: the helper's message
	Errors   []Problem // all of them; none but for Refuse
	Warnings []Problem
}

// Err returns the errors as one error, or nil without errors.
func (v *Verdict) Err() error {
	if len(v.Errors) == 0 {
		return nil
	}
	lines := make([]string, len(v.Errors))
	for i, f := range v.Errors {
		lines[i] = f.String()
	}
	return fmt.Errorf("the reply is refused: %s", strings.Join(lines, ", "))
}

// Judge decides about a reply. It reads the whole reply, also the parts that no
// feature uses, before anything is done.
func Judge(r *Reply, s Situation) Verdict {
	j := &judge{Reply: r, s: s}
	j.Warnings = append(j.Warnings, r.unknown...)
	switch {
	case r.Defer:
		return j.hold(Defer, "defer", "deferred")
	case r.Shutdown:
		return j.hold(Shutdown, "shutdown", "shut down")
	}
	j.Warnings = append(append(j.Warnings, r.empty...), r.unused...)
	j.configuration()
	j.policies("action_policies", ".policy", r.ActionPolicies)
	j.policies("opa_policies", ".rego", r.OPAPolicies)
	j.credentials()
	j.serverClaims()
	j.upgrade()
	j.site()
	switch {
	case len(j.Errors) > 0:
		j.Action = Refuse
	case j.upgrades():
		j.Action = Upgrade
	default:
		j.Action = Apply
	}
	return j.Verdict
}

type judge struct {
	*Reply
	s Situation
	Verdict
}

func (j *judge) refuse(path, message, suggestion string) {
	j.Errors = append(j.Errors, Problem{path, model.Advice{Message: message, Suggestion: suggestion}})
}

func (j *judge) warn(path, message, suggestion string) {
	j.Warnings = append(j.Warnings, Problem{path, model.Advice{Message: message, Suggestion: suggestion}})
}

// hold is the verdict on a reply that wants nothing written.
func (j *judge) hold(a Action, key, how string) Verdict {
	j.Action, j.Reason = a, oneLine(j.Msg)
	if j.Reason == "" {
		j.Reason = how + " by the helper, which gave no reason (msg)"
	}
	if j.Defer && j.Shutdown {
		j.warn("$.shutdown", "is ignored beside defer", "")
	}
	if len(j.Configuration) > 0 {
		j.warn("$.configuration", "is ignored beside "+key, "")
	}
	return j.Verdict
}

// oneLine makes a message of the helper's fit for a reason.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 500
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// upgrades says whether the server has to be upgraded before anything else.
func (j *judge) upgrades() bool {
	return j.s.Features.Upgrades && !j.s.NoUpgrade && j.Upgrade != "" && j.Upgrade != j.s.Version
}

func (j *judge) upgrade() {
	v := j.Upgrade
	switch {
	case v == "":
	case strings.ContainsFunc(v, control):
		j.refuse("$.upgrade", fmt.Sprintf("%q is not a version", v), "")
	case !j.s.Features.Upgrades:
		j.warn("$.upgrade", "is ignored: the feature upgrades is off", "add it to features")
	}
}

// site warns of doubtful settings of the site.
func (j *judge) site() {
	if j.s.SigningKey == "" || j.s.Directory == "" {
		return
	}
	rel, err := filepath.Rel(j.s.Directory, j.s.SigningKey)
	if err == nil && filepath.IsLocal(rel) {
		j.warn("", fmt.Sprintf("jwt_signing_key %s lies in the directory that is provisioned", j.s.SigningKey),
			"keep the issuer's key off its servers")
	}
}

func (j *judge) configuration() {
	if len(j.Configuration) == 0 {
		if !j.upgrades() {
			j.refuse("", "no configuration: "+j.got(), "")
		}
		return
	}
	for _, key := range sortedKeys(j.Configuration) {
		value := j.Configuration[key]
		path := join("$.configuration", key)
		switch {
		case strings.TrimSpace(key) == "":
			j.refuse(path, "the key is empty", "")
		case strings.ContainsFunc(key, control):
			j.refuse(path, "the key has a control character in it, which would make another line of it", "")
		case strings.Contains(key, "="), strings.HasPrefix(strings.TrimSpace(key), "#"):
			j.refuse(path, "the key would be read as another one, or as a comment", "no = in a key, no # in front of it")
		case key != strings.TrimSpace(key):
			j.refuse(path, "the key has white space around it, which would be lost", "")
		}
		if strings.ContainsFunc(value, control) {
			j.refuse(path, "the value has a line break or another control character in it, which would make another line of it", "")
			continue
		}
		if slices.Contains(booleans, key) && !isTrue(value) && !isFalse(value) {
			j.warn(path, fmt.Sprintf("%q is not a boolean", value), "write true or false")
		}
	}
	switch value, ok := j.Configuration[provisionKey]; {
	case !ok:
		j.warn("$.configuration", provisionKey+" is missing: the server would provision for ever", "set it to false")
	case !isFalse(value):
		j.warn(join("$.configuration", provisionKey), fmt.Sprintf("is %q: the server would provision for ever", value), "set it to false")
	}
}

// got describes the contents of a reply without configuration.
func (j *judge) got() string {
	if j.null {
		return "the reply is null"
	}
	if len(j.received) == 0 {
		return "the reply is an empty object"
	}
	var words []string
	for _, key := range j.received {
		word := fmt.Sprintf("%q", key)
		switch {
		case strings.EqualFold(key, "configuration"):
			word += " (empty)"
		case spelling.Suggest(key, []string{"configuration"}) != "":
			word += ` (did you mean "configuration"?)`
		}
		words = append(words, word)
	}
	return "received " + strings.Join(words, ", ")
}

// control reports whether a character ends a line or is invisible. A tab counts as visible.
func control(c rune) bool {
	return c < ' ' && c != '\t' || c == 0x7f || c == 0x85 || c == '\u2028' || c == '\u2029'
}

// policies checks the names under which texts become files.
func (j *judge) policies(key, suffix string, texts map[string]string) {
	for _, name := range sortedKeys(texts) {
		path := join("$."+key, name)
		switch {
		case strings.ContainsFunc(name, control):
			j.refuse(path, "the name has a control character in it", "")
		case strings.ContainsAny(name, `/\`) || !filepath.IsLocal(name):
			j.refuse(path, "the name is not that of a file in the policy directory", "")
		case name == suffix, len(name) > 255:
			j.refuse(path, "the name is no file name", "")
		case !strings.HasSuffix(name, suffix):
			j.refuse(path, "the name does not end in "+suffix, fmt.Sprintf("did you mean %q?", name+suffix))
		}
	}
}

// MinValidity is the shortest accepted validity of a token.
const MinValidity = time.Hour

// expiry returns when a token is to expire by a reply; zero: by default, and why.
func (c *ServerClaims) Expiry(now time.Time) (time.Time, *Problem) {
	if c == nil || c.Exp == nil || *c.Exp == 0 {
		return time.Time{}, nil
	}
	f := &Problem{"$.server_claims.exp", model.Advice{Suggestion: "exp is a Unix time"}}
	const year9999 = 253402300799
	switch exp := *c.Exp; {
	case exp > year9999 || exp < -year9999:
		f.Message = fmt.Sprintf("%.0f is after the year 9999", exp)
		return time.Time{}, f
	case time.Unix(int64(exp), 0).Before(now):
		f.Message = fmt.Sprintf("%.0f is in the past (%s): the default validity is used", exp, time.Unix(int64(exp), 0).UTC().Format("2006-01-02"))
		f.Suggestion = "exp is a Unix time, not a number of seconds from now"
		return time.Time{}, f
	case time.Unix(int64(exp), 0).Before(now.Add(MinValidity)):
		f.Message = "is less than an hour away: the default validity is used"
		return time.Time{}, f
	default:
		return time.Unix(int64(exp), 0), nil
	}
}

func (j *judge) serverClaims() {
	if j.Claims == nil {
		return
	}
	j.Errors = append(j.Errors, j.claims...)
	if _, doubt := j.Claims.Expiry(j.s.Now); doubt != nil {
		j.Warnings = append(j.Warnings, *doubt)
	}
	for i, c := range j.Claims.Collectives {
		if strings.TrimSpace(c) == "" {
			j.refuse(fmt.Sprintf("$.server_claims.collectives[%d]", i), "the collective has no name", "")
		}
	}
	if !j.s.Features.Ed25519 {
		j.warn("$.server_claims", "is ignored: the feature ed25519 is off", "add it to features")
	}
}
