package aov

import (
	"slices"
	"strings"
	"unicode"

	"retime/pipeline/media/exr"
)

// single are words in the names of channels whose values mean nothing in between: the mean of two depths is
// that of no thing, and the mean of two ids is a third one.
var single = strings.Fields("z zback depth id ids crypto cryptomatte objectid materialid assetid instanceid p pworld pref position pos uv st motion motionvector vector velocity forward backward")

// Blends reports whether the samples of a channel may be interpolated. Whole numbers are not, nor depth, ids,
// Cryptomatte, positions, texture coordinates and motion, as the names of the channel and its layer tell:
// these come from the nearer shot frame that shows what is there.
func Blends(name string, kind exr.Type) bool {
	if kind == exr.Uint {
		return false
	}
	return !slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(single, w) })
}

// words returns the words of a name in lower case, which end at capitals, digits and signs, and the parts
// between signs as one word.
func words(name string) (list []string) {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		list = append(list, strings.ToLower(part))
		begin, lower := 0, false
		for i, r := range part {
			if lower && unicode.IsUpper(r) {
				list = append(list, strings.ToLower(part[begin:i]))
				begin = i
			}
			lower = unicode.IsLower(r)
		}
		list = append(list, strings.ToLower(part[begin:]))
	}
	return list
}
