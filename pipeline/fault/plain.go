package fault

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Plain returns what went wrong in an error of the standard library, in the words of
// those who hand over files: without system calls, names of Go's types and functions, and
// without the file's name, which the caller states. Other errors stay as they are.
func Plain(err error) error {
	var path *fs.PathError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return fmt.Errorf("%q cannot be a %s", mistyped.Field, mistyped.Value)
	case errors.As(err, &mistyped):
		return fmt.Errorf("want a JSON object, not a %s", mistyped.Value)
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line is longer than %d bytes", bufio.MaxScanTokenSize)
	}
	return err
}
