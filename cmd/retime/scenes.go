package main

import (
	"bufio"
	"fmt"
	"math/big"
	"strings"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/pipeline/timeline"
)

// maxScenes bounds the size of the file of --scenes in bytes.
const maxScenes = 1 << 22

// readScenes reads the times of scene cuts, one a line. It skips blank lines and
// comments after #.
func readScenes(name string) ([]*big.Rat, error) {
	f, err := plainfile.OpenText(name, maxScenes)
	if err != nil {
		return nil, fault.New(fault.NoInput, "--scenes: %w", err)
	}
	defer f.Close()
	times := []*big.Rat{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		t, err := timeline.ParseTime(text)
		if err != nil {
			return nil, fault.New(fault.BadData, "--scenes: %s, line %d: %w", name, n, err)
		}
		times = append(times, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.BadData, "--scenes: %s: %w", name, fault.Plain(err))
	}
	return times, nil
}

// writeScenes writes a file that readScenes reads.
func writeScenes(name string, times []*big.Rat, overwrite bool) error {
	var b strings.Builder
	for _, t := range times {
		fmt.Fprintln(&b, t.FloatString(6))
	}
	_ = atomicfile.Sweep(name)
	if err := atomicfile.WriteFile(name, overwrite, []byte(b.String())); err != nil {
		return fault.New(fault.CannotWrite, "--write-scenes: %w", err)
	}
	return nil
}
