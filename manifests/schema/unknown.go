package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model/value"
)

// Unknown describes a word that settle does not know.
type Unknown struct {
	Message    string
	Suggestion string
	Meant      string // the known word that was probably meant, "" when none is close
}

// UnknownKey describes an unknown key of a manifest, or one under `ccm`.
func UnknownKey(word string, ccm bool, types []string) Unknown {
	if u, ok := UnsupportedCCM(word, ""); ok {
		return u
	}
	table := Keys
	if ccm {
		table = CCMKeys
	}
	var words []string
	for _, p := range table {
		words = append(words, p.Name)
	}
	meant := Near(word, words, keySynonyms)
	u := Unknown{"unknown key " + quote(word), entry.DidYouMean(meant), meant}
	switch isType := slices.Contains(types, word); {
	case isType:
		u.Meant = word
		u.Suggestion = fmt.Sprintf("put it into a list under resources: \"- %s:\"", word)
	case u.Suggestion != "":
	case ccm && Find(Keys, word) != nil:
		u.Suggestion = "a CCM manifest has no such key: put resources at the top instead of ccm"
	case ccm:
		u.Suggestion = "there are " + strings.Join(words, ", ")
	case Find(CCMKeys, word) != nil:
		u.Suggestion = "only a CCM manifest has it, under ccm:"
	default:
		u.Suggestion = "settle explain lists the keys"
	}
	return u
}

// UnknownType describes an entry of an unknown type.
func UnknownType(word string, types []string) Unknown {
	if advice := adviseType(word); advice != "" {
		return Unknown{Message: "unknown type " + quote(word), Suggestion: advice}
	}
	if meant := Near(word, types, typeSynonyms); meant != "" {
		return Unknown{"unknown type " + quote(word), entry.DidYouMean(meant), meant}
	}
	if u, ok := UnsupportedCCM(word, "resources of type "); ok {
		return u
	}
	return Unknown{Message: "unknown type " + quote(word), Suggestion: "the types are " + strings.Join(types, ", ") + "; for anything else use exec with creates, onlyif or unless"}
}

// UnknownProperty describes a property that a type lacks.
func (v *Vocabulary) UnknownProperty(word string) Unknown {
	suggestion := entry.DidYouMean(Near(word, v.Words, propertySynonyms))
	if suggestion == "" {
		if u, ok := UnsupportedCCM(word, ""); ok {
			return u
		}
	}
	return Unknown{Message: "unknown property " + quote(word), Suggestion: cmp.Or(suggestion, "settle explain "+v.Name+" lists them")}
}

// quote returns a text in quotes, a long one shortened.
func quote(text string) string { return fmt.Sprintf("%q", value.Short(text)) }
