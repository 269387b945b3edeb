package main

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// makeFiles writes one file of each kind that is read, small and whole.
func makeFiles(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(clip(t, 48, 32, 12), filepath.Join(dir, "in.y4m")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp", "flow", "clips", "done"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	field := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte("PIEH"), 12), 8)
	field = append(field, make([]byte, 12*8*8)...)
	for i := range 12 {
		write(t, filepath.Join(dir, "flow", fmt.Sprintf("%05d.flo", i)), string(field))
	}
	for name, text := range map[string]string{
		"curve":          "source speed\n0 100%\n0.2 50% smooth # slower\nend 100%\n",
		"times":          "source output\n0 0\n0.25 0.5 smooth\n0.4 0.8\n",
		"scenes":         "0.125\n00:00:00.3 # two\n",
		"decisions":      `{"frame": 3, "method": "nearest"}` + "\n" + `{"frame": 5, "cut": true}` + "\n" + `{"frame": 9, "regions": [{"method": "blend", "outline": [[4, 3], [20, 3], [20, 9]]}]}` + "\n",
		"list":           "# frames kind score time options\n3 black 0.980 0.125\n5-6 repeated\n0:00.34 garbled region=10,4,20,10\n9 gap 1.0 0.375 insert=2\n",
		"settings.yaml":  "preset: fast\nblend-below: 0.3\nscene-threshold: 0.4\nduplicates: retime\n",
		"jobs.yaml":      "defaults: {slow: 2, output: 'done/{name}.mkv', preset: fast}\nclips:\n  - input: in.y4m\n    crf: 20\n  - {input: in.y4m, output: done/b.mkv, fps: 48, slow: 1, vcodec: ffv1}\n  - {input: in.y4m, output: done/c.mkv, slow: 1, fps: 30, scenes: scenes, vopt: [qp=0]}\n",
		"work.decisions": `{"frame": 3, "method": "nearest"}` + "\n",
		"work.curve":     "source speed\n0 100%\n0.2 50%\nend 100%\n",
		"in.pgm":         "P5\n48 32\n255\n" + strings.Repeat("retime..", 48*32/8),
		"in.ppm":         "P6\n48 32\n255\n" + strings.Repeat("retime..", 48*32*3/8),
		"answer":         "#!/bin/sh\nwhile n=$(head -c 216 | wc -c); [ $n -gt 0 ]; do cat $1; [ $(wc -c <$1) = 780 ] || exit; done\n",
		"foreign":        "of somebody else",
		"foreign.part":   "too",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := os.Chmod(filepath.Join(dir, "answer"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "weights.npz"), weights(t))
}

// weights returns a network for LPIPS with few channels, as NumPy's savez writes it.
func weights(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	z := zip.NewWriter(&b)
	add := func(name string, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
		header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }\n", list)
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = fmt.Fprintf(w, "\x93NUMPY\x01\x00%c\x00%s%s", len(header), header, strings.Repeat("\x00\x00\x80\x3c", n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, side := range []int{11, 5, 3, 3, 3} {
		channels := []int{3, 2, 2, 2, 2, 2}
		add(fmt.Sprint("w", i), side, side, channels[i], channels[i+1])
		add(fmt.Sprint("b", i), channels[i+1])
		add(fmt.Sprint("l", i), channels[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
