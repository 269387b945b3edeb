package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mistaken is how many slips of a finger a word may be away from the one that was meant.
const mistaken = 2

// nearestWord returns the word that is the fewest slips away from text, at most mistaken
// and fewer than text has letters. It takes the first of several.
func nearestWord(text string, words []string) (nearest string, ok bool) {
	least := min(mistaken+1, len(text))
	for _, w := range words {
		if d := slips(text, w); d < least {
			nearest, least, ok = w, d, true
		}
	}
	return nearest, ok
}

// slips counts the letters that are missing, added, wrong, or exchanged with their
// neighbour: the optimal string alignment distance of Damerau, "A technique for computer
// detection and correction of spelling errors", CACM 7 (1964).
func slips(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0:
				rows[i][j] = j
			case j == 0:
				rows[i][j] = i
			default:
				wrong := rows[i-1][j-1]
				if a[i-1] != b[j-1] {
					wrong++
				}
				rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, wrong)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}

// suggestFlag returns a hint for messages if err is about a flag that resembles one of
// cmd's, or if cmd is the program itself and the word before resembles a verb.
func suggestFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	if before := cmd.Flags().Args(); !cmd.HasParent() && len(before) > 0 {
		if hint := suggestVerb(cmd, before[0]); hint != "" {
			return hint
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if name, ok := nearestWord(unknown.GetSpecifiedName(), names); ok {
		return "; did you mean --" + name + "?"
	}
	return ""
}

// suggestVerb returns a hint for messages if text names no file and resembles a verb.
func suggestVerb(root *cobra.Command, text string) string {
	if _, err := os.Stat(text); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	var names []string
	for _, v := range root.Commands() {
		if v.IsAvailableCommand() {
			names = append(names, v.Name())
		}
	}
	if name, ok := nearestWord(text, names); ok {
		return "; did you mean retime " + name + "?"
	}
	return ""
}
