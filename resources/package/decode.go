package pkg

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

var errNoManager = errors.New("no package manager is installed here that settle knows (apt, dnf)")

const defaultLockTimeout = 5 * time.Minute

// versionText matches what may stand for a version, patterns included.
var versionText = regexp.MustCompile(`^[A-Za-z0-9.+:~^*?-]+$`)

// anyName matches the names that one of the managers takes.
var anyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*(:[a-z0-9-]+)?$`)

// decode turns the properties of one resource into packages, and records every
// mistake in the body.
func (m *machine) decode(b *model.Body) model.Spec {
	r := &resource{
		machine: m, ensure: b.Text("ensure"), removals: b.Bool("removals") || b.CCM && !b.Has("removals"),
		recommends: optional(b, "recommends"), hold: optional(b, "hold"), newConfig: b.Text("conffiles") == "new",
		update: "auto", lockTimeout: defaultLockTimeout, provider: b.Text("provider"), timeout: b.Duration("timeout"),
	}
	if b.Has("lock_timeout") {
		r.lockTimeout = b.Duration("lock_timeout")
	}
	r.decodeUpdate(b)
	r.decodeTargets(b)
	r.decodeEnsure(b)
	r.refuseContradictions(b)
	r.declare(b)
	return r
}

// optional returns a boolean property, nil when it is absent.
func optional(b *model.Body, property string) *bool {
	if !b.Has(property) {
		return nil
	}
	value := b.Bool(property)
	return &value
}

func (r *resource) decodeUpdate(b *model.Body) {
	text := b.Text("update")
	switch text {
	case "":
	case "auto", "never":
		r.update = text
	default:
		age, err := model.ParseDuration(text)
		if err != nil {
			b.Refuse("update", fmt.Sprintf("update %q is neither auto, never nor a duration", text), "write auto, never or a duration such as 1d")
			return
		}
		r.update, r.maxAge = "", age
	}
}

// decodeTargets reads the names, and the versions that stand beside them.
func (r *resource) decodeTargets(b *model.Body) {
	values, property := b.Each("package"), "package"
	if !b.Has("package") {
		values, property = []model.Value{{Text: b.Name, Pos: b.Pos}}, ""
	}
	if len(values) == 0 {
		b.Refuse("package", "the list is empty", "leave it out, or name packages")
	}
	list := b.Values["package"].Shape == model.List
	for _, v := range values {
		name, version, versioned := strings.Cut(v.Text, "=")
		switch {
		case v.Text == "": // the loader reports a missing name
			continue
		case versioned && !list:
			b.RefuseAt(v.Pos, property, fmt.Sprintf("%q has a version beside the name", v.Text), "write the version with ensure")
			continue
		case versioned && !versionText.MatchString(version):
			b.RefuseAt(v.Pos, property, fmt.Sprintf("%q is not a version", version), "write the whole version, or a pattern such as 1.2.*")
			continue
		case !r.checkName(b, v.Pos, property, name):
			continue
		}
		r.targets = append(r.targets, target{name, version})
	}
}

// checkName refuses texts that a package manager would read as more than a name.
func (r *resource) checkName(b *model.Body, pos model.Pos, property, name string) bool {
	switch {
	case strings.HasPrefix(name, "@"):
		b.RefuseAt(pos, property, fmt.Sprintf("%q is a group", name), "name packages; for a group use an exec")
	case strings.HasSuffix(name, "-"):
		b.RefuseAt(pos, property, fmt.Sprintf("%q ends with a hyphen, which means remove to apt", name), "write ensure: absent")
	case strings.ContainsAny(name, "*?[]"):
		b.RefuseAt(pos, property, fmt.Sprintf("%q is a pattern", name), "name each package")
	case !anyName.MatchString(name):
		b.RefuseAt(pos, property, fmt.Sprintf("%q is not a package name", name), "set package where the resource has another name")
	case r.provider == "apt" && strings.ToLower(name) != name:
		b.RefuseAt(pos, property, fmt.Sprintf("%q is not a package name of apt", name), fmt.Sprintf("did you mean %q?", strings.ToLower(name)))
	default:
		return true
	}
	return false
}

func (r *resource) decodeEnsure(b *model.Body) {
	switch r.ensure {
	case "":
		r.ensure = "present"
	case "present", "latest", "absent", "purged":
	case "installed", "removed", "held", "upgraded":
		ours := map[string]string{"installed": "present", "removed": "absent", "held": "present with hold: true", "upgraded": "latest"}
		b.Refuse("ensure", fmt.Sprintf("unknown ensure %q", r.ensure), "did you mean "+ours[r.ensure]+"?")
		r.ensure = "present"
	default:
		r.decodeVersion(b)
	}
	r.downgrade = b.Bool("downgrade") || !b.Has("downgrade") && r.hasVersion()
}

// decodeVersion reads an ensure that is a version.
func (r *resource) decodeVersion(b *model.Body) {
	version := r.ensure
	r.ensure = "present"
	switch {
	case !versionText.MatchString(version):
		b.Refuse("ensure", fmt.Sprintf("%q is not a version", version), "write the whole version, or a pattern such as 1.2.*; there are no comparisons")
	case len(r.targets) > 1:
		b.Refuse("ensure", "one version for several packages", "write NAME=VERSION in the list")
	case len(r.targets) == 1:
		r.targets[0].version = version
	}
}

func (r *resource) hasVersion() bool {
	for _, t := range r.targets {
		if t.version != "" {
			return true
		}
	}
	return false
}

func (r *resource) removes() bool { return r.ensure == "absent" || r.ensure == "purged" }

// refuseContradictions refuses properties that exclude each other.
func (r *resource) refuseContradictions(b *model.Body) {
	if r.ensure == "purged" && r.provider == "dnf" {
		b.Refuse("ensure", "rpm knows no purge", "write ensure: absent")
	}
	if r.removes() {
		for _, property := range []string{"hold", "downgrade", "recommends", "conffiles"} {
			if b.Has(property) {
				b.Refuse(property, fmt.Sprintf("%s means nothing for a package that is %s", property, r.ensure), "leave it out")
			}
		}
		if r.hasVersion() {
			b.Refuse("package", "a package is removed whatever its version is", "write names without versions")
		}
	}
	if b.Has("downgrade") && r.ensure == "present" && !r.hasVersion() {
		b.Refuse("downgrade", "present accepts every version, so nothing is downgraded", "leave it out, or write a version")
	}
}

// declare refuses two resources that want one package in different states.
func (r *resource) declare(b *model.Body) {
	if b.Off {
		return
	}
	for _, t := range r.targets {
		mine := &declaration{b.Ref, b.Pos, r.ensure + " " + t.version}
		other, found := r.machine.declared.LoadOrStore(t.name, mine)
		if !found {
			continue
		}
		if o := other.(*declaration); o.ref != mine.ref && o.ensure != mine.ensure {
			b.Refuse("ensure", fmt.Sprintf("package %s is declared otherwise by %s at %s:%d", t.name, o.ref, o.pos.File, o.pos.Line), "declare it in one place")
		}
	}
}
