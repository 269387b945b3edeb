// Command compile writes, for go generate, the code that evaluates splines of package
// boxspline's elements: Go and C for the CPU, the weights that conversions use, and the table of costs in
// docs/boxspline.md.
// With -check it writes nothing and fails if a file is not current. With -kernels it writes
// the CUDA source of retime-bench instead.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"retime/internal/generated"
	"retime/warp/boxspline"
	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/compile/emit"
	"retime/warp/boxspline/compile/plan"
)

func main() {
	root := flag.String("root", ".", "the module's `DIR`")
	check := flag.Bool("check", false, "write nothing, and fail if a file is not current")
	kernels := flag.String("kernels", "", "write the kernels to `FILE`, and nothing else")
	flag.Parse()
	if err := run(*root, *kernels, *check); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

const (
	goDir    = "warp/boxspline/fast"
	document = "docs/boxspline.md"
	// generic is the element that package generic evaluates: its code would be longer than all the
	// others' together.
	generic = "bcc-voronoi-2"
	// sampled is the element with which conversions sample frames.
	sampled = "zp"
)

func run(root, kernels string, check bool) error {
	programs, err := compileAll()
	if err != nil {
		return err
	}
	if kernels != "" {
		return os.WriteFile(kernels, emit.Kernels(programs), 0o644)
	}
	files := map[string][]byte{filepath.Join(goDir, "elements.h"): emit.C(programs)}
	for _, p := range programs {
		if p.Element.Name == sampled {
			if files["warp/zp.go"], files["cuda/kernels/zp.cuh"], err = emit.Fixed(p); err != nil {
				return err
			}
		}
		if files[filepath.Join(goDir, fileName(p.Element.Name)+".go")], err = emit.Go(p); err != nil {
			return err
		}
	}
	if files[filepath.Join(goDir, "functions.go")], err = emit.List(programs); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return err
	}
	if files[document], err = emit.Report(text, programs); err != nil {
		return fmt.Errorf("report in %s: %w", document, err)
	}
	for name, text := range files {
		if err := generated.Write(filepath.Join(root, name), text, check); err != nil {
			return err
		}
	}
	return nil
}

// compileAll returns the programs of all elements but the generic one.
func compileAll() ([]emit.Program, error) {
	var list []*code.Program
	for _, e := range boxspline.Elements() {
		if e.Name == generic {
			continue
		}
		p, err := compile(e)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return emit.Share(list), nil
}

func fileName(element string) string { return strings.ReplaceAll(element, "-", "_") }

// compile returns the program for an element, with the lattice stored in the way that takes the
// fewest operations. In three dimensions that is always as cosets.
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
