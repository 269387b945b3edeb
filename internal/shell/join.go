package shell

import (
	"regexp"
	"strings"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9_./=:,%+@-]+$`)

// Join returns words as a command line of a POSIX shell.
func Join(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		if list[i] = w; !plain.MatchString(w) {
			list[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(list, " ")
}
