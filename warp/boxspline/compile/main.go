// Command compile writes, for go generate, the code that evaluates splines of package
// boxspline's elements: Go and C for the CPU, CUDA for the GPU, and the table of costs in
// docs/boxspline.md. With -check it writes nothing and fails if a file is not current.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"retime/warp/boxspline"
	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/compile/emit"
	"retime/warp/boxspline/compile/plan"
)

func main() {
	root := flag.String("root", ".", "the module's `DIR`")
	check := flag.Bool("check", false, "write nothing, and fail if a file is not current")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

const (
	goDir    = "warp/boxspline/fast"
	cudaDir  = "cmd/retime-bench/internal/gpu/kernels"
	document = "docs/boxspline.md"
)

func run(root string, check bool) error {
	var list []*code.Program
	for _, e := range boxspline.Elements() {
		p, err := compile(e)
		if err != nil {
			return err
		}
		list = append(list, p)
	}
	programs := emit.Share(list)
	for _, p := range programs {
		text, err := emit.Go(p)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(root, goDir, fileName(p.Element.Name)+".go"), text, check); err != nil {
			return err
		}
		if err := put(filepath.Join(root, cudaDir, "boxspline_"+emit.CUDAName(p.Element.Name)+".cuh"), emit.CUDA(p), check); err != nil {
			return err
		}
	}
	if err := put(filepath.Join(root, goDir, "elements.h"), emit.C(programs), check); err != nil {
		return err
	}
	if err := put(filepath.Join(root, cudaDir, "boxspline.cu"), emit.Kernels(programs), check); err != nil {
		return err
	}
	functions, err := emit.List(programs)
	if err != nil {
		return err
	}
	if err := put(filepath.Join(root, goDir, "functions.go"), functions, check); err != nil {
		return err
	}
	name := filepath.Join(root, document)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if text, err = emit.Report(text, programs); err != nil {
		return fmt.Errorf("report in %s: %w", name, err)
	}
	return put(name, text, check)
}

func fileName(element string) string { return strings.ReplaceAll(element, "-", "_") }

// compile returns the program of the way to store the lattice that takes the fewest
// operations. In three dimensions lattices are stored as their cosets.
func compile(e *boxspline.Element) (*code.Program, error) {
	targets := []plan.Target{plan.Cosets(e)}
	if e.Dim() == 2 && len(e.Lattice.Offsets) > 1 {
		targets = append(targets, plan.OneCoset(e))
	}
	var best *code.Program
	for _, t := range targets {
		p, err := plan.New(t)
		if err != nil {
			return nil, err
		}
		c, err := code.New(p)
		if err != nil {
			return nil, fmt.Errorf("code of %s: %w", e.Name, err)
		}
		if best == nil || c.Operations() < best.Operations() {
			best = c
		}
	}
	return best, nil
}

// put writes text to a file or, with check, returns an error unless the file holds text.
func put(name string, text []byte, check bool) error {
	now, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case err == nil && bytes.Equal(now, text):
		return nil
	case check:
		return fmt.Errorf("%s is not current; run make generate", name)
	}
	return os.WriteFile(name, text, 0o644)
}
