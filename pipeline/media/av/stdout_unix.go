//go:build unix

package av

/*
#include <fcntl.h>

static int closed;

// Go's runtime opens /dev/null in place of a standard stream that is closed. This runs
// before it.
__attribute__((constructor)) static void look(void)
{
	closed = fcntl(1, F_GETFD) < 0;
}

static int stdout_closed(void) { return closed; }
*/
import "C"

import "syscall"

func init() {
	if StandardOutputClosed() {
		syscall.CloseOnExec(1) // a program that takes this one's place begins without one, too
	}
}

// StandardOutputClosed reports whether the process began without a standard output.
func StandardOutputClosed() bool { return C.stdout_closed() != 0 }
