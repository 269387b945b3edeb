package sequence

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Every spelling names the same files, and numbers beyond the padding are whole.
func TestSpellings(t *testing.T) {
	for name, want := range map[string]string{
		"s/p.%04d.exr": "s/p.0007.exr s/p.12345.exr", "s/p.%d.exr": "s/p.7.exr s/p.12345.exr", "s/p.%06d.exr": "s/p.000007.exr s/p.012345.exr",
		"s/p.####.exr": "s/p.0007.exr s/p.12345.exr", "s/p.#.exr": "s/p.7.exr s/p.12345.exr", "s/p.######.exr": "s/p.000007.exr s/p.012345.exr",
		"s/p.@@@@.exr": "s/p.0007.exr s/p.12345.exr", "s/p.@.dpx": "s/p.7.dpx s/p.12345.dpx",
		"s/p.$F4.exr": "s/p.0007.exr s/p.12345.exr", "s/p.${F4}.exr": "s/p.0007.exr s/p.12345.exr", "s/p.$F.exr": "s/p.7.exr s/p.12345.exr",
		"s/p.$F6.exr": "s/p.000007.exr s/p.012345.exr", "s/p_$F4_v1.exr": "s/p_0007_v1.exr s/p_12345_v1.exr",
		"s/p.[0001-9999].exr": "s/p.0007.exr s/p.12345.exr", "s/p.[1-20].exr": "s/p.7.exr s/p.12345.exr",
		"s#1/p.##.exr": "s#1/p.07.exr s#1/p.12345.exr", "#1 me@home.####.png": "#1 me@home.0007.png #1 me@home.12345.png",
		"p#.%03d.exr": "p#.007.exr p#.12345.exr", "100%.####.flo": "100%.0007.flo 100%.12345.flo",
		"clip%d.mp4": "clip7.mp4 clip12345.mp4",
		// None of these has a number.
		"take #3.mp4": "", "me@home.mkv": "", "$F4.mov": "", "[1001-1008].nut": "", "p.exr": "", "p.[1-8].exr": "", "p.[12-3].exr": "",
		"p.$FF.exr": "", "p.$FEND.exr": "", "%d/p.exr": "", "%d.%d.exr": "", "%4d.exr": "", "p.%0999d.exr": "",
	} {
		p, ok := Parse(name)
		if ok != (want != "") {
			t.Errorf("%s: %v", name, ok)
		} else if got := p.File(7) + " " + p.File(12345); ok && got != filepath.FromSlash(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The name of a file gives back its number, below 0 unless a letter or a digit comes before the sign.
func TestBelowZero(t *testing.T) {
	for name, signed := range map[string]bool{"####.exr": true, "p.#.exr": true, "p-%04d.exr": true, "p_$F4.exr": true, "p####.exr": false, "p2@@.exr": false, "é%d.png": false} {
		p, _ := Parse(name)
		for n := -12345; n <= 12345; n += 823 {
			if got, ok := p.Number(p.Base(n)); (ok && got == n) != (n >= 0 || signed) || (p.CheckFirst(n) == nil) != (ok && got == n) {
				t.Errorf("%s: %d is %s, which is %d, %v", name, n, p.Base(n), got, ok)
			}
		}
	}
}

// A file belongs to a pattern if the pattern gives its name, and a range leaves others out.
func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p.0998.exr", "p.0999.exr", "p.1000.exr", "p.1002.exr", "p.10001.exr", "p.010001.exr", "p.99.exr", "q.1001.exr", "p.1001.dpx",
		"n.-002.exr", "n.-001.exr", "n.0000.exr", "n.0001.exr", "n.-12.exr", "n.-012.exr", "n.-0012.exr", "n.-10000.exr", "n-12.exr", "n7.exr"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"p.####.exr": "[998 999 1000 1002 10001]", "p.#.exr": "[99 1000 1002 10001]", "p.$F6.exr": "[10001]",
		"p.[-002-0001].exr": "[]", "n.####.exr": "[-10000 -12 -2 -1 0 1]", "n.#.exr": "[-10000 -12]", "n.@@@@@.exr": "[-10000 -12]", "n.$F4.exr": "[-10000 -12 -2 -1 0 1]", "n.%04d.exr": "[-10000 -12 -2 -1 0 1]",
		"n.[-002-0000].exr": "[-2 -1 0]", "n.[-12--3].exr": "[-12]", "n#.exr": "[7]", "n-#.exr": "[12]", "n-##.exr": "[12]",
		"p.[0999-1002].exr": "[999 1000 1002]", "p.[1003-1008].exr": "[]",
	} {
		p, ok := Parse(filepath.Join(dir, name))
		got, err := p.Numbers()
		if !ok || err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
	}
	p, _ := Parse("p.[0999-1002].exr")
	if first, last, ok := p.Range(); first != 999 || last != 1002 || !ok {
		t.Errorf("range %d to %d, %v", first, last, ok)
	}
	if base, ok := p.Printf(); base != "p.%04d.exr" || !ok {
		t.Errorf("in C: %s, %v", base, ok)
	}
	if got := Spans([]int{3, 5, 6, 7, 9}); got != "3,5-7,9" {
		t.Errorf("spans %s", got)
	}
}

// Views are told from numbers, and from names of films.
func TestHasView(t *testing.T) {
	for name, want := range map[string]bool{"p_%V.%04d.exr": true, "%v/p.####.exr": true, "%V.exr": true, "p.%04d.exr": false, "%V.mp4": false} {
		if HasView(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
