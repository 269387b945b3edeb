package shell

import "strings"

// Join returns words as a command line of a POSIX shell, or on Windows of cmd.exe.
func Join(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		if list[i] = w; !plain.MatchString(w) {
			list[i] = quote(w)
		}
	}
	return strings.Join(list, " ")
}
