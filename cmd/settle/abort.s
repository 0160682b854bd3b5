#include "textflag.h"

// A fatal error of the Go runtime (no memory, no thread, a stack that is too deep, a
// signal for a fault) ends a Go program with exit code 2. In settle that code means
// "changed". With the crash bit, which GOTRACEBACK=crash sets, the runtime ends with
// SIGABRT. debug.SetTraceback sets the bit too late: the runtime may fail before main.
//
// So the two variables that hold the bit start with it. The linker prefers these
// larger duplicates. With a Go version that has no such variables, they have no
// effect, and the script fatal_error.txtar fails.

DATA runtime·traceback_cache(SB)/4, $9 // the level 2, and the crash bit
DATA runtime·traceback_cache+4(SB)/4, $0
GLOBL runtime·traceback_cache(SB), NOPTR|DUPOK, $8

DATA runtime·traceback_env(SB)/4, $1 // the runtime adds it to every level that is set
DATA runtime·traceback_env+4(SB)/4, $0
GLOBL runtime·traceback_env(SB), NOPTR|DUPOK, $8
