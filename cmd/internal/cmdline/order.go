package cmdline

import "github.com/alecthomas/kong"

// TranslateWords replaces two habits from other programs: `--version` becomes
// `version`, and `help apply` becomes `apply --help`.
func TranslateWords(args []string) []string {
	switch {
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	case len(args) > 0 && args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	}
	return args
}

// MoveFlagsForward puts the flags of a command line before its arguments,
// because kong accepts no flag between two manifests. It returns args unchanged
// when a value is missing, so that kong reports the mistake.
func MoveFlagsForward(node *kong.Node, args []string) []string {
	var words, operands []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case len(arg) > 1 && arg[0] == '-':
			words = append(words, arg)
			if FlagBeforeValue(node, arg) != nil {
				if i++; i == len(args) {
					return args // a moved argument would be read as the missing value
				}
				words = append(words, args[i])
			}
		case len(operands) == 0 && FindCommand(node, arg) != nil:
			node = FindCommand(node, arg)
			words = append(words, arg)
		default:
			operands = append(operands, arg)
		}
	}
	if len(operands) == 0 || len(node.Children) > 0 {
		return args
	}
	return append(append(words, "--"), operands...)
}
