package entry

// The limits of a manifest. They are far above what people write, and keep the
// time and memory for a hostile or generated file within reason.
const (
	// MaxProblems is how many problems, and how many warnings, are kept.
	MaxProblems = 10_000
	// MaxSize is how many bytes all files of a manifest may have together.
	MaxSize = 16 << 20
	// MaxIncludes is how deep files may include each other.
	MaxIncludes = 10
	// MaxDepth is how deep lists and maps may be nested.
	MaxDepth = 100
	// MaxValues is how many values may be written out: a hundred for each of ten
	// thousand resources.
	MaxValues = 1_000_000
	// MinAliased and MaxAliased bound how many values all aliases may stand for.
	// Between them the bound is ten for each value that is written out.
	MinAliased, MaxAliased = 500_000, 10_000_000
	// MaxLine is how many bytes of a line are searched for a place. People do not
	// write longer lines, and searching generated ones takes too long.
	MaxLine = 2000
	// MaxPut is how many bytes all values put in by expressions may have together.
	MaxPut = 64 << 20
	// MaxUnrolled is how many resources all for_each may make together.
	MaxUnrolled = 100_000
	// MaxText is how many bytes all properties of all resources may have together.
	// Defaults, aliases and for_each give one text to many resources, and each may
	// keep a copy.
	MaxText = 128 << 20
	// MaxGuesses bounds how many names are compared with references that name
	// nothing: a file may have very many of both.
	MaxGuesses = 200_000
	// MaxPath is the length of a path, in bytes, that operating systems accept.
	MaxPath = 4096
)
