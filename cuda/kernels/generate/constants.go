package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"retime/warp"
)

// shared lists the constants, by the directory of the Go package that declares them. A kernel's
// name for a constant is Go's name in snake case, unless another name follows a colon.
var shared = []struct{ directory, names string }{
	{"warp", `
		positionBits positionOne PhaseOne differenceOne unseen hidden unseenBeyond
		projected neighbour stationary onlyFirst onlySecond maxHypotheses weightOne costRadius
		leastOnly mostEnergy jumpBits choiceBits
		leastShare sameMotion shiftRadius insideFactor outsideFactor aroundCount:places_around
		overlayContrast overlaySpan overlayNoise overlayCoding overlayReach overlayMotion overlayMisfit overlayVotes overlayBold
		overlaySquare overlayLeastSquare overlayStray overlayGain
		bendDoubt bendNoise
		calmBits calmRadius calmNoise calmGain calmOne calmStill
		margin:coefficient_margin
		vectorLimit sampleLimit16`},
	{"inpaint", `
		chamferAxial chamferDiagonal maxDistance`},
	{"flow/dis", `
		patchSize vectorBits vectorOne fractionBits normalBits gradientGain damping stepGain stepLimit reachToll
		borderSize weightLimit weightFloor`},
	{"warp/bspline", `
		Region:kRegion CatmullRom:kCatmullRom MaxOrder:kMaxOrder
		HalfSymmetric:kHalfSymmetric WholeSymmetric:kWholeSymmetric Periodic:kPeriodic Constant:kConstant`},
}

// root is the path of the module, relative to the directory in which go generate runs this program.
// program.
const root = "../.."

// constantsHeader returns the text of the header.
func constantsHeader() ([]byte, error) {
	in := module{
		path:   strings.TrimSuffix(reflect.TypeFor[warp.Params]().PkgPath(), "/warp"),
		loaded: map[string]*types.Package{},
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s// The constants that the kernels share with Go code, under the package that declares each.\n#pragma once\n\n#include <stdint.h>\n", header)
	for _, s := range shared {
		p, err := in.Import(in.path + "/" + s.directory)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n// %s\n", s.directory)
		for _, entry := range strings.Fields(s.names) {
			name, as, renamed := strings.Cut(entry, ":")
			if !renamed {
				as = snake(name)
			}
			c, ok := p.Scope().Lookup(name).(*types.Const)
			if !ok {
				return nil, fmt.Errorf("package %s declares no constant %s", s.directory, name)
			}
			text, err := declare(as, c.Val())
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", p.Name(), name, err)
			}
			fmt.Fprintln(&b, text)
		}
	}
	return b.Bytes(), nil
}

// module imports the module's packages from source, to evaluate their constants, exported or not.
// Other packages do not affect the constants.
type module struct {
	path   string
	loaded map[string]*types.Package
}

// Import implements types.Importer.
func (m module) Import(path string) (*types.Package, error) {
	directory, ok := strings.CutPrefix(path, m.path+"/")
	if !ok {
		return nil, fmt.Errorf("%s is not in the module", path)
	}
	if p := m.loaded[path]; p != nil {
		return p, nil
	}
	directory = filepath.Join(root, directory)
	listed, err := build.ImportDir(directory, 0)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range listed.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(directory, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	c := types.Config{Importer: m, IgnoreFuncBodies: true, Error: func(error) {}}
	// Declarations from other packages are missing; a constant that needs one gets no value.
	m.loaded[path], _ = c.Check(path, set, files, nil)
	return m.loaded[path], nil
}

// declare returns the declaration of a constant: an int, a wider integer if the value does not fit,
// or a float.
func declare(name string, v constant.Value) (string, error) {
	if n, exact := constant.Int64Val(constant.ToInt(v)); exact && v.Kind() == constant.Int {
		if n > math.MaxInt32 {
			return fmt.Sprintf("const uint64_t %s = %dull;", name, n), nil
		}
		if n >= math.MinInt32 {
			return fmt.Sprintf("const int %s = %d;", name, n), nil
		}
	}
	if f, _ := constant.Float32Val(v); v.Kind() == constant.Float {
		return fmt.Sprintf("const float %s = %gf;", name, f), nil
	}
	return "", fmt.Errorf("%v cannot be a kernel's constant", v)
}

var capital = regexp.MustCompile(`[A-Z]`)

// snake converts a Go name to the style of the kernels: weightOne becomes weight_one.
func snake(name string) string {
	return strings.ToLower(strings.TrimPrefix(capital.ReplaceAllString(name, "_$0"), "_"))
}
