package aov

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"retime/pipeline/media/exr"
)

// Rules say which channels are mixed, before what their names say. The zero value says nothing.
type Rules struct{ list []rule }

type rule struct {
	text    string
	pattern []string // what lies between asterisks
	mixes   bool
}

// ParseRules reads rules such as "mask.*=nearest" and "N=mix": a channel whose name goes by the pattern, in which
// * stands for any text, comes from the nearer picture that shows what is there, or is mixed from both. Of several
// rules for a channel, the last one counts. Errors are *RuleError.
func ParseRules(texts []string) (r Rules, err error) {
	for _, text := range texts {
		i := strings.LastIndexByte(text, '=')
		if i < 1 || text[i+1:] != "mix" && text[i+1:] != "nearest" {
			return r, &RuleError{text, "want a channel's name, in which * stands for any text, and mix or nearest, as in mask.*=nearest"}
		}
		r.list = append(r.list, rule{text, strings.Split(text[:i], "*"), text[i+1:] == "mix"})
	}
	return r, nil
}

// matches reports whether a name goes by r's pattern.
func (r *rule) matches(name string) bool {
	last := len(r.pattern) - 1
	rest, ok := strings.CutPrefix(name, r.pattern[0])
	if last == 0 || !ok {
		return ok && rest == ""
	}
	for _, text := range r.pattern[1:last] {
		if _, rest, ok = strings.Cut(rest, text); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, r.pattern[last])
}

// RuleError says what is wrong with a rule.
type RuleError struct{ Rule, Problem string }

func (e *RuleError) Error() string { return fmt.Sprintf("%q: %s", e.Rule, e.Problem) }

// check returns a *RuleError if a rule is about no channel of a picture, or mixes none but whole numbers.
func (r *Rules) check(parts []exr.Part) error {
	var all []exr.Plane // with the names that rules see
	for i := range parts {
		for _, c := range parts[i].Planes {
			c.Name = fullName(i, &parts[i], c.Name)
			all = append(all, c)
		}
	}
	for _, one := range r.list {
		matches := func(c exr.Plane) bool { return one.matches(c.Name) }
		mixes := func(c exr.Plane) bool { return one.matches(c.Name) && c.Type != exr.Uint }
		switch {
		case !slices.ContainsFunc(all, matches):
			names := make([]string, len(all))
			for i, c := range all {
				names[i] = c.Name
			}
			return &RuleError{one.text, "the first picture has no such channel; it has " + strings.Join(names, ", ")}
		case one.mixes && !slices.ContainsFunc(all, mixes):
			return &RuleError{one.text, "whole numbers cannot be mixed"}
		}
	}
	return nil
}

// fullName returns the name of a channel of part i, which begins with that of the part but in the first one.
func fullName(i int, p *exr.Part, channel string) string {
	if i == 0 || p.Name == "" {
		return channel
	}
	return p.Name + "." + channel
}

// mixed reports whether the samples of a channel of a picture may be mixed: by r or, if that says nothing, unless
// it is of one of the layers that the picture calls Cryptomatte, or its name tells that it is not. Whole numbers
// never are.
func (r *Rules) mixed(name string, kind exr.Type, layers []string) bool {
	if kind == exr.Uint {
		return false
	}
	for _, one := range slices.Backward(r.list) {
		if one.matches(name) {
			return one.mixes
		}
	}
	return !slices.ContainsFunc(layers, func(l string) bool { return ofLayer(name, l) }) &&
		!slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(single, w) })
}

// ofLayer reports whether a name is of a layer of Cryptomatte, whose channels are in layers with a number
// after its name ("Cryptomatte Specification", version 1.2, Psyop): layer00.red, layer01.red, and so on.
func ofLayer(name, layer string) bool {
	for at := 0; ; at++ {
		i := strings.Index(name[at:], layer)
		if i < 0 || layer == "" {
			return false
		}
		at += i
		rest := strings.TrimLeft(name[at+len(layer):], "0123456789")
		if (at == 0 || name[at-1] == '.') && (rest == "" || rest[0] == '.') {
			return true
		}
	}
}

// single are words in the names of channels whose values mean nothing in between: the mean of two depths is
// that of no thing, and the mean of two ids is a third one.
var single = strings.Fields("z zback depth id ids crypto cryptomatte objectid materialid assetid instanceid p pworld pref position pos uv st motion motionvector vector velocity forward backward")

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
