package av

import "golang.org/x/sys/windows"

// StandardOutputClosed reports whether the process began without a standard output.
func StandardOutputClosed() bool {
	h, err := windows.GetStdHandle(windows.STD_OUTPUT_HANDLE)
	return err != nil || h == 0 || h == windows.InvalidHandle
}
