package plainfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// open lets others replace the file, and waits for one who does so at the moment.
func open(name string) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, opening(name, err)
	}
	const tries, pause = 100, 10 * time.Millisecond
	for n := 1; ; n++ {
		h, err := windows.CreateFile(p, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
			nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
		if err == nil {
			return os.NewFile(uintptr(h), name), nil
		}
		if n == tries || !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return nil, opening(name, err)
		}
		time.Sleep(pause)
	}
}
