package media_test

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// Every spelling reads and writes the same files, and the output's numbers go on from the input's first.
func TestSequenceSpellings(t *testing.T) {
	in := t.TempDir()
	ffmpeg(t, "-i", writeScene(t, 64, 48, 3, 24, 1), "-pix_fmt", "rgb24", "-start_number", "1001", filepath.Join(in, "p.%04d.png"))
	want := func(n int) []byte {
		data, err := os.ReadFile(filepath.Join(in, fmt.Sprintf("p.%04d.png", n)))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, c := range []struct {
		input, output string
		first         string // the first file of the output
	}{
		{"p.%04d.png", "o.%06d.png", "o.001001.png"}, {"p.####.png", "o.######.png", "o.001001.png"},
		{"p.$F4.png", "o.$F6.png", "o.001001.png"}, {"p.@@@@.png", "o.@.png", "o.1001.png"},
		{"p.[1001-1003].png", "o.####.png", "o.1001.png"}, {"p.####.png", "o.[0021-0026].png", "o.0021.png"},
		{"p.*.png", "o.${F4}.png", "o.0001.png"},
	} {
		out := t.TempDir()
		o := pipeline.Options{
			Input:     pipeline.Input{File: filepath.Join(in, c.input), Rate: big.NewRat(24, 1)},
			Output:    pipeline.Output{File: filepath.Join(out, c.output)},
			Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		}
		mustRun(t, o)
		entries, _ := os.ReadDir(out)
		if len(entries) != 6 || entries[0].Name() != c.first {
			t.Errorf("%s to %s: %v, want six from %s", c.input, c.output, entries, c.first)
			continue
		}
		for i := range 3 {
			got, _, _ := readAll(t, filepath.Join(out, entries[2*i].Name()))
			shot, _, _ := readAll(t, filepath.Join(in, fmt.Sprintf("p.%04d.png", 1001+i)))
			if !bytes.Equal(got[0], shot[0]) {
				t.Errorf("%s to %s: picture %d is changed", c.input, c.output, i)
			}
		}
	}
	// So do formats for which FFmpeg has a container of its own, or that few know.
	for _, kind := range []string{"webp", "sgi", "j2k"} {
		dir := t.TempDir()
		for _, from := range []string{filepath.Join(in, "p.####.png"), filepath.Join(dir, "a.####."+kind)} {
			o := pipeline.Options{
				Input:     pipeline.Input{File: from, Rate: big.NewRat(24, 1)},
				Output:    pipeline.Output{File: filepath.Join(dir, "a.####."+kind)},
				Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
			}
			if from == o.Output.File {
				o.Output.File = filepath.Join(dir, "b.@@@@."+kind)
			}
			o.Timing.Rate = pipeline.Rate{Value: big.NewRat(1, 1), Multiple: true}
			mustRun(t, o)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 6 || entries[5].Name() != "b.1003."+kind {
			t.Errorf("%s: %v", kind, entries)
		}
	}
	// Numbers below 0 are numbers: pictures go in from -1 on, and out from -3 on.
	below, out := t.TempDir(), t.TempDir()
	for i, name := range []string{"p.-001.png", "p.0000.png", "p.0001.png"} {
		if err := os.WriteFile(filepath.Join(below, name), want(1001+i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for first, o := range map[int]pipeline.Output{-1: {File: filepath.Join(out, "o.####.png")}, -3: {File: filepath.Join(out, "s.%04d.png"), StartNumber: new(-3)}} {
		mustRun(t, pipeline.Options{
			Input: pipeline.Input{File: filepath.Join(below, "p.####.png"), Rate: big.NewRat(24, 1)}, Output: o, Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		})
		for i := range 3 {
			got, _, _ := readAll(t, filepath.Join(out, fmt.Sprintf("%c.%04d.png", filepath.Base(o.File)[0], first+2*i)))
			if shot, _, _ := readAll(t, filepath.Join(in, fmt.Sprintf("p.%04d.png", 1001+i))); len(got) != 1 || !bytes.Equal(got[0], shot[0]) {
				t.Errorf("from %d on: picture %d is changed", first, i)
			}
		}
	}
	// What is missing is named, in a range also before the first picture and after the last.
	for _, n := range []int{1005, 1006, 1009} {
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("p.%04d.png", n)), want(1001), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for input, c := range map[string]struct {
		kind fault.Kind
		says string
	}{
		"p.[1001-1004].png": {fault.BadData, "number 1004 is missing; a restoration with Options.MissingFromNumbering makes it"},
		"p.[0999-1003].png": {fault.BadData, "numbers 999-1000 are missing, 2 in all"},
		"p.####.png":        {fault.BadData, "numbers 1004,1007-1008 are missing, 3 in all"},
		"p_%V.####.png":     {fault.Usage, "%V stands for a view"},
		"%v/p.%04d.png":     {fault.Usage, "%V stands for a view"},
	} {
		o := pipeline.Options{
			Input:  pipeline.Input{File: filepath.Join(in, input), Rate: big.NewRat(24, 1)},
			Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.nut")}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
		}
		_, err := pipeline.Run(t.Context(), o)
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, want %q", input, err, c.says)
		}
	}
	o := pipeline.Options{Input: pipeline.Input{File: writeScene(t, 64, 48, 3, 24, 1)}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o_%V.####.png")}}
	if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "%V stands for a view") {
		t.Errorf("an output with a view: %v", err)
	}
}
