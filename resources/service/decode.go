package service

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// defaultSteady is how long a unit is watched after a start.
const defaultSteady = time.Second

// unitName matches the names that systemd accepts (man systemd.unit).
var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+$`)

// decode turns the properties of one resource into a service, and records every
// mistake in the body.
func (m *machine) decode(b *model.Body) model.Spec {
	s := &service{
		machine: m, ref: b.Ref, pos: b.Pos, ensure: b.Text("ensure"), refresh: b.Text("refresh"),
		steady: defaultSteady, provider: b.Text("provider"), timeout: b.Duration("timeout"),
		enable: optional(b, "enable"), masked: optional(b, "masked"),
	}
	if s.ensure == "" {
		s.ensure = "running"
	}
	if b.Text("on_refresh") == "check" {
		s.onRefresh = model.RefreshChecks
	}
	if b.Has("steady") {
		s.steady = b.Duration("steady")
	}
	s.decodeUnit(b)
	s.refuseContradictions(b)
	if s.refresh == "" {
		s.refresh = "restart"
	}
	return s
}

// optional returns a boolean property, nil when it is absent.
func optional(b *model.Body, property string) *bool {
	if !b.Has(property) {
		return nil
	}
	value := b.Bool(property)
	return &value
}

func (s *service) decodeUnit(b *model.Body) {
	property, unit := "unit", b.Text("unit")
	if !b.Has("unit") {
		property, unit = "", b.Name
	}
	if unit == "" { // the loader reports a missing name
		return
	}
	switch base, _, _ := strings.Cut(unit, "@"); {
	case !unitName.MatchString(unit):
		b.Refuse(property, fmt.Sprintf("%q is not a unit name", unit), "letters, digits and : _ . \\ @ - are allowed; set unit where the name is another one")
		return
	case strings.HasSuffix(strings.TrimSuffix(unit, suffixOf(unit)), "@"):
		b.Refuse(property, fmt.Sprintf("%s is a template, not a unit", unit), fmt.Sprintf("name an instance: %s@NAME%s", base, suffixOf(unit)))
		return
	}
	s.unit = unit
	if s.provider != "openrc" {
		s.unit = canonical(unit)
	}
	if b.Off {
		return
	}
	if other, found := s.machine.declared.LoadOrStore(s.unit, s); found && other.(*service).ref != s.ref {
		first := other.(*service)
		b.Refuse(property, fmt.Sprintf("unit %s is already declared by %s at %s:%d", s.unit, first.ref, first.pos.File, first.pos.Line), "declare it in one place")
		return
	}
	s.machine.snapshot.add(s.unit)
}

// suffixOf returns the suffix of a unit name that is a kind of unit, else "".
func suffixOf(unit string) string {
	for _, suffix := range suffixes {
		if strings.HasSuffix(unit, suffix) {
			return suffix
		}
	}
	return ""
}

// refuseContradictions refuses properties that exclude each other.
func (s *service) refuseContradictions(b *model.Body) {
	masked := s.masked != nil && *s.masked
	if masked && s.ensure == "running" {
		suggestion := "set ensure: stopped"
		if b.Has("ensure") {
			suggestion = "drop masked, or set ensure: stopped"
		}
		b.Refuse("masked", "a masked unit cannot run", suggestion)
	}
	if masked && s.enable != nil && *s.enable {
		b.Refuse("masked", "a masked unit cannot be enabled", "drop one of masked and enable")
	}
	if s.ensure == "stopped" && b.Has("refresh") {
		b.Refuse("refresh", "a stopped unit is not refreshed", "drop refresh, or ensure: stopped")
	}
	if s.provider == "openrc" && b.Has("masked") {
		b.Refuse("masked", "openrc cannot mask a service", "set enable: false and ensure: stopped")
	}
}
