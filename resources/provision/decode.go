package provision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// defaultDenyList are the names that Choria reserves for privileged clients. They
// are compiled once, because a manifest may have thousands of servers.
var defaultDenyList = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, text := range []string{`\.privileged.mcollective$`, `\.privileged.choria$`, `\.mcollective$`, `\.choria$`} {
		list = append(list, regexp.MustCompile(text))
	}
	return list
})

// defaultValidity is the validity of a server's token without server_jwt_validity.
const defaultValidity = 365 * 24 * time.Hour

// decode turns the properties of one resource into a server. Every mistake is
// recorded in the body.
func (w *world) decode(b *model.Body) model.Spec {
	s := &server{
		w: w, base: b.Base, decide: w.Conditions(b), creates: b.Has("creates"),
		identity: b.Name, site: b.Text("site"), owner: b.Text("owner"), group: b.Text("group"),
		credentials: credentials{validity: defaultValidity}, description: description{version: b.Text("version")}, upgradeOptional: b.Bool("upgrade_optional"),
		sensitive: b.Bool("sensitive"),
	}
	if b.Has("identity") {
		s.identity = b.Text("identity")
	}
	if b.Has("timeout") {
		timeout := b.Duration("timeout")
		s.timeout = &timeout
	}
	if s.helper = w.words(b, "helper"); len(s.helper) > 0 {
		s.text = w.Join(s.helper)
	} else if !b.Has("helper") {
		b.Refuse("helper", "a provision needs a helper", "name the program that answers for this server")
	}
	s.decodePaths(b)
	s.decodeFeatures(b)
	s.claim(b)
	s.decodeTokens(b)
	s.decodeInventory(b)
	s.decodeCommands(b)
	return s
}

// words splits a command of the resource. No shell reads it.
func (w *world) words(b *model.Body, property string) []string {
	v, ok := b.Values[property]
	if !ok {
		return nil
	}
	var argv []string
	if v.Shape == model.List {
		for _, item := range v.Items {
			argv = append(argv, item.Text)
		}
		b.RefuseShellText(property, v.Items)
		if len(argv) == 0 || argv[0] == "" {
			b.Refuse(property, "command is empty", "")
			return nil
		}
		return argv
	}
	argv, err := w.Argv(v.Text, v.Placeholders.Each())
	if err == nil {
		if v.Placeholders != nil {
			v.Placeholders.Filled = w.Join(argv)
		}
		return argv
	}
	suggestion := "put it into a script, or write it as a list of words with a shell in front: [/bin/sh, -c, …]"
	if other := model.SuggestionOf(err); other != "" && !strings.Contains(other, "provider") {
		suggestion = other
	}
	b.Refuse(property, err.Error(), suggestion)
	return nil
}

// decodePaths resolves the paths of the resource: relative ones against the directory
// of the manifest, missing ones against directory.
func (s *server) decodePaths(b *model.Body) {
	path := func(property, otherwise string) string {
		text := b.Text(property)
		switch {
		case !b.Has(property):
			return otherwise
		case text == "~" || strings.HasPrefix(text, "~/"):
			b.Refuse(property, "~ is not expanded here", "write the home directory out")
		case !filepath.IsAbs(text):
			text = filepath.Join(s.base.Dir, text)
		}
		return filepath.Clean(text)
	}
	s.dir = path("directory", "/etc/choria")
	s.config = path("config_file", filepath.Join(s.dir, "server.conf"))
	s.ssldir = path("ssldir", filepath.Join(s.dir, "ssl"))
	s.jwt = path("jwt", filepath.Join(s.dir, "provisioning.jwt"))
	s.signingKey = path("jwt_signing_key", "")
	s.signingToken = path("jwt_signing_token", "")
	s.inventoryFile = path("inventory_file", "")
	s.pauseFile = path("pause_file", "")
	if s.verify = b.Text("jwt_verify"); !isHexKey(s.verify) {
		s.verify = path("jwt_verify", "")
	}
	if s.dir == "/" {
		b.Refuse("directory", "the root directory is not for a server's files", "")
	}
}

// claim claims the files that the server may get. Two resources that write the same
// file would undo each other's work in every run.
func (s *server) claim(b *model.Body) {
	said := func(property string) string {
		if b.Has(property) {
			return property
		}
		return "directory"
	}
	b.ClaimPath(said("config_file"), s.config)
	for _, path := range []string{s.seedFile(), s.tokenFile(), s.actionPolicies(), s.opaPolicies()} {
		b.ClaimPath("directory", path)
	}
	for _, name := range []string{keyFile, requestFile, certificateFile, caFile} {
		b.ClaimPath(said("ssldir"), s.inSSL(name))
	}
}

// decodeFeatures reads the features. ed25519 implies jwt: the server token is signed
// with claims of the provisioning token.
func (s *server) decodeFeatures(b *model.Body) {
	switches := map[string]*bool{
		"pki": &s.features.PKI, "ed25519": &s.features.Ed25519, "jwt": &s.features.JWT, "upgrades": &s.features.Upgrades,
	}
	for _, v := range b.Each("features") {
		on, ok := switches[v.Text]
		if !ok {
			suggestion := "settle knows pki, ed25519, jwt and upgrades"
			if near := spelling.Suggest(v.Text, slices.Sorted(maps.Keys(switches))); near != "" {
				suggestion = fmt.Sprintf("did you mean %q?", near)
			}
			b.RefuseAt(v.Pos, "features", fmt.Sprintf("unknown feature %q", v.Text), suggestion)
			continue
		}
		*on = true
	}
	if s.features.PKI && s.features.Ed25519 {
		b.Refuse("features", "pki and ed25519 exclude each other", "a server has certificates or tokens: keep one")
	}
	s.features.JWT = s.features.JWT || s.features.Ed25519
	s.deny = denyList(b)
}

// denyList returns the expressions of cert_deny_list, or the default ones.
func denyList(b *model.Body) []*regexp.Regexp {
	if !b.Has("cert_deny_list") {
		return defaultDenyList()
	}
	var list []*regexp.Regexp
	for _, v := range b.Each("cert_deny_list") {
		text := v.Text
		if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' { // Choria writes an expression between slashes
			text = text[1 : len(text)-1]
		}
		re, err := regexp.Compile(text)
		if err != nil {
			b.RefuseAt(v.Pos, "cert_deny_list", strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
			continue
		}
		list = append(list, re)
	}
	return list
}

// decodeTokens checks that each feature has the keys that it needs.
func (s *server) decodeTokens(b *model.Body) {
	if b.Has("server_jwt_validity") {
		s.validity = b.Duration("server_jwt_validity")
		if s.validity < contract.MinValidity {
			b.Refuse("server_jwt_validity", "a token has to be good for an hour at least", "")
		}
	}
	switch {
	case s.features.JWT && s.verify == "":
		b.Refuse("jwt_verify", "the feature jwt needs jwt_verify: a token that is not verified says nothing", "name the issuer's public key")
	case s.features.Ed25519 && s.signingKey == "":
		b.Refuse("jwt_signing_key", "the feature ed25519 needs jwt_signing_key", "name the file with the issuer's seed")
	}
	if s.signingToken != "" && s.signingKey == "" {
		b.Refuse("jwt_signing_token", "jwt_signing_token needs the jwt_signing_key that it is for", "")
	}
}

// refuseAlternatives refuses all but the first of several properties that exclude each
// other.
func refuseAlternatives(b *model.Body, names ...string) {
	first := ""
	for _, name := range names {
		switch {
		case !b.Has(name):
		case first == "":
			first = name
		default:
			b.Refuse(name, name+" is given beside "+first, "drop one of them")
		}
	}
}

// decodeInventory reads where the inventory and the version come from. An inventory
// in the manifest is encoded once, here.
func (s *server) decodeInventory(b *model.Body) {
	refuseAlternatives(b, "inventory", "inventory_file", "inventory_command")
	refuseAlternatives(b, "version", "version_command")
	s.inventoryCommand = s.w.words(b, "inventory_command")
	s.versionCommand = s.w.words(b, "version_command")
	v, ok := b.Values["inventory"]
	if !ok {
		return
	}
	if v.Shape != model.Map {
		b.Refuse("inventory", "the inventory is a map", "write facts: {name: value} under it")
		return
	}
	var buf bytes.Buffer
	writeJSON(&buf, v)
	inv, err := contract.ParseInventory(buf.Bytes())
	if err != nil {
		b.Refuse("inventory", err.Error(), "")
		return
	}
	s.inventory = inv
}

// jsonNumber matches a plain scalar that is a number in JSON too.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// writeJSON writes a value as JSON. Numbers are copied digit by digit: a float64
// would change large ones.
func writeJSON(buf *bytes.Buffer, v model.Value) {
	switch v.Shape {
	case model.Map:
		buf.WriteByte('{')
		for i, p := range v.Pairs {
			if i > 0 {
				buf.WriteByte(',')
			}
			writeText(buf, p.Key)
			buf.WriteByte(':')
			writeJSON(buf, p.Value)
		}
		buf.WriteByte('}')
	case model.List:
		buf.WriteByte('[')
		for i, item := range v.Items {
			if i > 0 {
				buf.WriteByte(',')
			}
			writeJSON(buf, item)
		}
		buf.WriteByte(']')
	default:
		plain := !v.Quoted
		switch {
		case plain && (v.Text == "true" || v.Text == "false" || jsonNumber.MatchString(v.Text)):
			buf.WriteString(v.Text)
		case plain && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, v.Text):
			buf.WriteString("null")
		default:
			writeText(buf, v.Text)
		}
	}
}

// writeText writes a JSON string.
func writeText(buf *bytes.Buffer, text string) {
	data, err := json.Marshal(text)
	if err != nil { // a string always can be
		data = []byte(strconv.Quote(text))
	}
	buf.Write(data)
}

// decodeCommands reads on_shutdown and on_upgrade. An upgrade needs the version before
// and after it, to find out whether it succeeded.
func (s *server) decodeCommands(b *model.Body) {
	s.onShutdown = s.w.words(b, "on_shutdown")
	s.onUpgrade = s.w.words(b, "on_upgrade")
	switch {
	case !s.features.Upgrades:
		for _, property := range []string{"on_upgrade", "upgrade_optional"} {
			if v, ok := b.Values[property]; ok && !v.Default {
				b.Warn(property, property+" means nothing: the feature upgrades is off", "add it to features")
			}
		}
	case !b.Has("on_upgrade"):
		b.Refuse("on_upgrade", "the feature upgrades needs on_upgrade", "name the command that upgrades to $SETTLE_UPGRADE_VERSION")
	case !b.Has("version") && !b.Has("version_command"):
		b.Refuse("version_command", "the feature upgrades needs version_command: it is asked before and after on_upgrade", "name a command that prints the version")
	case b.Has("version"):
		b.Warn("version", "version is the same after on_upgrade, which so counts as failed", "use version_command")
	}
}
