package complete

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
)

// answer returns the values that may stand at the cursor.
func (c *Completer) answer(r request) Answer {
	asksHelp := len(r.before) > 0 && r.before[0] == "help"
	if asksHelp {
		r.before = r.before[1:]
	}
	at := parseWords(c.Root, r.before)
	// A manifest behind the cursor decides which resources may be named before it.
	whole := parseWords(c.Root, slices.Concat(r.before, []string{r.word}, r.after))
	name, value, isLong := at.splitLongFlag(r.word)
	switch {
	case at.pending != nil:
		return c.answerFlagValue(whole, at.pending, r.word, "")
	case isLong:
		flag := cmdline.FindFlag(at.node, "--"+name)
		return c.answerFlagValue(whole, flag, value, "--"+name+"=")
	case !at.ended && strings.HasPrefix(r.word, "-"):
		return listFlags(at)
	case len(at.node.Children) > 0:
		return listCommands(at.node)
	case asksHelp:
		return Answer{Kind: KindWords}
	}
	return c.answerOperand(at, whole, r.word)
}

// listCommands offers the commands below a command, or below settle itself.
func listCommands(node *kong.Node) Answer {
	ans := Answer{Kind: KindWords}
	for _, c := range node.Children {
		ans.Offers = append(ans.Offers, Offer{c.Name, c.Help})
	}
	return ans
}

// listFlags offers the flags of a command, without those that were given already
// and may not be repeated.
func listFlags(at *CommandLine) Answer {
	ans := Answer{Kind: KindWords}
	for _, group := range at.node.AllFlags(true) {
		for _, flag := range group {
			if at.Flags[flag.Name] == nil || flag.IsCumulative() {
				ans.Offers = append(ans.Offers, Offer{"--" + flag.Name, flag.Help})
			}
		}
	}
	return ans
}

// answerFlagValue offers values of a flag. text is the part of the value that is
// typed, and prefix the part of the word before it.
func (c *Completer) answerFlagValue(cl *CommandLine, flag *kong.Flag, text, prefix string) Answer {
	comma := strings.LastIndexByte(text, ',') + 1
	if !flag.IsSlice() || flag.Tag.Sep != ',' {
		comma = 0
	}
	ans := c.answerValue(cl, flag.Value, text[comma:])
	ans.Prefix = prefix + text[:comma] + ans.Prefix
	if comma > 0 {
		taken := strings.Split(text[:comma], ",")
		ans.Offers = slices.DeleteFunc(ans.Offers, func(o Offer) bool { return slices.Contains(taken, o.Value) })
	}
	return ans
}

// answerOperand offers values of the argument at the cursor.
func (c *Completer) answerOperand(at, whole *CommandLine, text string) Answer {
	n := len(at.operands)
	all := at.node.Positional
	switch {
	case n < len(all):
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		n = len(all) - 1
	default:
		return Answer{Kind: KindWords}
	}
	if SourceName(all[n]) == "REF" && at.takesManifestFirst() {
		return Answer{Kind: KindManifests}
	}
	return c.answerValue(whole, all[n], text)
}

// answerValue offers the words of an enumeration, or asks the source of the value.
func (c *Completer) answerValue(cl *CommandLine, v *kong.Value, text string) Answer {
	if v.Enum != "" {
		return OfferWords(v.EnumSlice()...)
	}
	if source := c.Sources[SourceName(v)]; source != nil {
		return source(cl, text)
	}
	return Answer{Kind: KindWords}
}

// SourceName returns the key of a value's source: the placeholder of a flag, or the
// name of an argument in capitals.
func SourceName(v *kong.Value) string {
	switch {
	case v.Flag != nil:
		return v.Flag.PlaceHolder
	case v.Name == "manifest" && v.IsCumulative(): // validate's, which names directories too
		return "MANIFEST"
	}
	return strings.ToUpper(v.Name)
}

// OfferWords returns an answer that offers words without descriptions.
func OfferWords(words ...string) Answer {
	ans := Answer{Kind: KindWords}
	for _, word := range words {
		ans.Offers = append(ans.Offers, Offer{Value: word})
	}
	return ans
}
