package emit

import (
	"fmt"
	"go/format"
	"slices"
	"strings"

	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// Fixed returns, for package warp, the Go file and the CUDA header with a program's weights: at
// fixed-point positions, exact, for coefficients in the order of the sites. The element must be
// two-dimensional and have one array, one polynomial and turns without shifts.
func Fixed(of Program) (golang, cuda []byte, err error) {
	p := program{of}
	if p.Dim != 2 || len(p.Offsets) != 1 || len(p.Classes) != 1 || !p.turned() {
		return nil, nil, fmt.Errorf("weights of %s in fixed point: want a plane, one array, one polynomial and turns", p.Element.Name)
	}
	for _, s := range p.Subregions {
		if s.Shift != (lattice.Point{}) {
			return nil, nil, fmt.Errorf("weights of %s in fixed point: a turn has a shift", p.Element.Name)
		}
	}
	if golang, err = format.Source(p.goFixed()); err != nil {
		return nil, nil, fmt.Errorf("weights of %s: %w", p.Element.Name, err)
	}
	return golang, p.cudaFixed(), nil
}

func (p program) goFixed() []byte {
	name, n := CUDAName(p.Element.Name), len(p.Classes[0].Sites)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage warp\n\n// %sTurns has, for each index of a subregion, the turn's matrix by rows.\nvar %sTurns = [...][4]int32{\n", notice, name, name)
	for _, s := range p.Subregions {
		fmt.Fprintf(&b, "{%s},\n", list(p.entry(s)[:4]))
	}
	fmt.Fprintf(&b, "}\n\n// %sWeightsAt sets w to the weights of element %s at (u0, u1), the position less that of its\n", name, p.Element.Name)
	fmt.Fprintf(&b, "// coefficient at index o, in 1/positionOne, and at to the indices of the coefficients.\n")
	fmt.Fprintf(&b, "func %sWeightsAt(u0, u1 int32, o, stride int, w *[%d]float32, at *[%d]int) {\nindex := 0\n", name, n, n)
	goIndex(&b, p.Planes, "u")
	fmt.Fprintf(&b, "e := &%sTurns[index]\n", name)
	b.WriteString("v0, v1 := e[0]*u0+e[1]*u1, e[2]*u0+e[3]*u1\ns0, s1 := int(e[0])+int(e[1])*stride, int(e[2])+int(e[3])*stride\nconst one = positionOne\n")
	weights, unit := p.fixedWeights()
	fmt.Fprintf(&b, "const unit = %s\n*at = [%d]int{", unit, n)
	for i, s := range p.fixedPlaces() {
		fmt.Fprintf(&b, "%s%s", []string{"", ", "}[min(i, 1)], s)
	}
	fmt.Fprintf(&b, "}\n*w = [%d]float32{\n", n)
	for _, v := range weights {
		fmt.Fprintf(&b, "float32(%s) / unit,\n", v)
	}
	b.WriteString("}\n}\n")
	return []byte(b.String())
}

func (p program) cudaFixed() []byte {
	name := CUDAName(p.Element.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n#pragma once\n\n#include \"motion.cuh\"\n\n", notice)
	fmt.Fprintf(&b, "// %s_weights_at sets w to the weights of element %s at (u0, u1), the position less that of its\n", name, p.Element.Name)
	fmt.Fprintf(&b, "// coefficient at index o, in 1/position_one, and at to the indices of the coefficients.\n")
	fmt.Fprintf(&b, "HOST_DEVICE void %s_weights_at(int u0, int u1, int o, int stride, float *w, int *at) {\n\tint index = 0;\n", name)
	for _, c := range p.Planes {
		for _, o := range c.Offsets {
			fmt.Fprintf(&b, "\tindex += (%s >= %s) * %d;\n", dot(c, "u", cTimes), rational(o), c.Stride)
		}
	}
	for k := range 4 {
		var sum strings.Builder
		for i, s := range p.Subregions {
			switch p.entry(s)[k] {
			case 1:
				joined(&sum, fmt.Sprintf("(index == %d)", i))
			case -1:
				fmt.Fprintf(&sum, " - (index == %d)", i)
			}
		}
		fmt.Fprintf(&b, "\tconst int e%d = %s;\n", k, strings.TrimSpace(sum.String()))
	}
	b.WriteString("\tconst int v0 = e0 * u0 + e1 * u1, v1 = e2 * u0 + e3 * u1;\n\tconst int s0 = e0 + e1 * stride, s1 = e2 + e3 * stride;\n\tconst int one = position_one;\n")
	weights, unit := p.fixedWeights()
	fmt.Fprintf(&b, "\tconst float scale = 1.0f / (%s);\n", unit)
	for i, at := range p.fixedPlaces() {
		fmt.Fprintf(&b, "\tat[%d] = %s, w[%d] = (float)(%s) * scale;\n", i, at, i, weights[i])
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// fixedPlaces returns expressions for the indices of the coefficients.
func (p program) fixedPlaces() (places []string) {
	for _, m := range p.Classes[0].Sites {
		places = append(places, placed("o", p.names("s"), m))
	}
	return places
}

// fixedWeights returns expressions for the weights times unit, as integer polynomials in v0, v1 and
// one.
func (p program) fixedWeights() (weights []string, unit string) {
	c := p.Classes[0]
	d, degree := code.Denominator(c.Weights), 0
	for _, w := range c.Weights {
		degree = max(degree, w.Degree())
	}
	for _, w := range c.Weights {
		var b strings.Builder
		for _, m := range w.Monomials() {
			a := w[m].Mul(d)
			factors := slices.Concat(slices.Repeat([]string{"one"}, degree-m.Degree()), slices.Repeat([]string{"v0"}, int(m[0])), slices.Repeat([]string{"v1"}, int(m[1])))
			if size := a.Abs(); size.Cmp(exact.Int(1)) != 0 || len(factors) == 0 {
				factors = append([]string{size.String()}, factors...)
			}
			text := strings.Join(factors, "*")
			switch {
			case a.Sign() > 0:
				joined(&b, text)
			case b.Len() == 0:
				b.WriteString("-" + text)
			default:
				b.WriteString(" - " + text)
			}
		}
		weights = append(weights, b.String())
	}
	return weights, d.String() + strings.Repeat("*one", degree)
}
