package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Words are the program's own, as an argument of New: the name of an option, or a hint that names some.
type Words string

// Text returns err's message with the program's words as say puts them, such as a flag's name for an
// option's. Whatever the message quotes of others, such as names of files, stays.
func Text(err error, say func(words string) string) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if err != error(e) { //nolint:errorlint // text of others wraps e
		whole, inner := err.Error(), e.Error()
		at := strings.LastIndex(whole, inner)
		if at < 0 {
			return whole
		}
		return whole[:at] + Text(e, say) + whole[at+len(inner):]
	}
	if e.format == "" {
		return Text(e.Err, say)
	}
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		switch v := arg.(type) {
		case Words:
			arg = Words(say(string(v)))
		case error:
			arg = errors.New(Text(v, say))
		}
		args[i] = arg
	}
	return fmt.Errorf(say(e.format), args...).Error()
}
