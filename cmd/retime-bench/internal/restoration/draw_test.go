package restoration

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/restore"
)

// picture is one with texture everywhere, which moves with the shift.
func picture(format frame.Format, shift int) *frame.Frame {
	f := frame.New(format, 320, 180)
	for y := range f.Height {
		for x := range f.Width {
			v := 60 + ((x+shift)/9*37+y/7*61)%120
			if format.Bytes() == 2 {
				frame.Samples[uint16](f.Planes[0]).Row(y)[x] = uint16(v << (format.Depth - 8))
			} else {
				frame.Samples[uint8](f.Planes[0]).Row(y)[x] = uint8(v)
			}
		}
	}
	return f
}

var formats = []frame.Format{
	{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv420p10le", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1},
}

// What is drawn is in the picture, and damage to the whole picture is seen.
func TestDrawnIsSeen(t *testing.T) {
	for _, format := range formats {
		for i := range sorts {
			for strength := range strengths {
				was, to, before := picture(format, 0), picture(format, 0), picture(format, 5)
				d := damageDrawn{sort: &sorts[i], strength: strength}
				if !drawSeen(rand.New(rand.NewPCG(1, 2)), to, before, d) || frame.Equal(to, was) {
					t.Errorf("%s %s %d: nothing is drawn", format.Name, d.sort.name, strength)
				}
				if d.sort.whole && !differs(was, to) {
					t.Errorf("%s %s %d: it is not seen", format.Name, d.sort.name, strength)
				}
				if d.sort.name == "repeat" && frame.Equal(to, before) != (strength == strengths-1) {
					t.Errorf("%s: a repeat of strength %d has noise, or none", format.Name, strength)
				}
			}
		}
	}
}

// Damage that would not be seen is not drawn: the picture stays as it was, even if a repeat has noise of its own.
func TestUnseenIsNotDrawn(t *testing.T) {
	dark := picture(formats[0], 0)
	draw(rand.New(rand.NewPCG(1, 2)), dark, &sorts[0], 0)
	for name, f := range map[string]*frame.Frame{"black": dark, "repeat": picture(formats[0], 0)} {
		k := slices.IndexFunc(sorts, func(s sort) bool { return s.name == name })
		to := frame.New(f.Format, f.Width, f.Height)
		frame.Copy(to, f)
		if drawSeen(rand.New(rand.NewPCG(1, 2)), to, f, damageDrawn{sort: &sorts[k]}) || !frame.Equal(to, f) {
			t.Errorf("%s is drawn where it is not seen", name)
		}
	}
}

// A finding is right if one of its frames is damaged, of whichever kind.
func TestCount(t *testing.T) {
	of := map[string]*sort{}
	for i := range sorts {
		of[sorts[i].name] = &sorts[i]
	}
	found := func(kind restore.Kind, first, last int64) restore.Finding {
		return restore.Finding{Kind: kind, First: restore.Place{Number: first}, Last: restore.Place{Number: last}}
	}
	tally, notes := newTally(sorts), []string(nil)
	tally.count(map[int64]damageDrawn{
		5: {sort: of["black"], strength: 0}, 13: {sort: of["black"], strength: 2}, 21: {sort: of["garbled"], strength: 1}, 29: {sort: of["repeat"], strength: 1},
	}, []restore.Finding{
		found(restore.White, 4, 5), found(restore.Flash, 21, 21), found(restore.Flash, 22, 23), found(restore.Repeated, 28, 29), found(restore.Garbled, 29, 29), found(restore.Jump, 40, 40),
	}, func(format string, _ ...any) { notes = append(notes, format) })
	for name, want := range map[string]score{
		"black":   {drawn: [strengths]int{1, 0, 1}, found: [strengths]int{1, 0, 0}, named: 1, claimed: 1, right: 1},
		"garbled": {drawn: [strengths]int{0, 1, 0}, found: [strengths]int{0, 1, 0}, claimed: 1, right: 1},
		"flash":   {claimed: 2, right: 1},
		"repeat":  {drawn: [strengths]int{0, 1, 0}, found: [strengths]int{0, 1, 0}, named: 1, claimed: 1, right: 1},
		"dirt":    {},
	} {
		if got := *tally.scores[name]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if want := "found by mistake: %v|found by mistake: %v|missed: %d %s %d"; strings.Join(notes, "|") != want {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// The study draws the kinds that it looks for.
func TestSortsOfKinds(t *testing.T) {
	for find, want := range map[string]string{
		"whole":           "black repeat garbled flash",
		"parts":           "jitter dropout streak block dirt",
		"white,dirt,jump": "black dirt",
	} {
		kinds, err := restore.ParseKinds(find)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range (&study{find: kinds}).sorts() {
			got = append(got, d.name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", find, got, want)
		}
	}
}
