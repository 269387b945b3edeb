package emit

import (
	"fmt"
	"go/format"
	"strings"

	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/compile/expr"
	"retime/warp/boxspline/compile/plan"
	"retime/warp/boxspline/lattice"
)

// GoName returns the name of an element in Go: BCCQuintic for "bcc-quintic".
func GoName(element string) string {
	var b strings.Builder
	for _, w := range strings.Split(element, "-") {
		switch w {
		case "zp", "bcc", "fcc":
			b.WriteString(strings.ToUpper(w))
		default:
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}

// stepTimes returns the product of a table entry and a step, which may be 1.
func stepTimes(a, b string) string {
	if b == "1" {
		return a
	}
	return a + "*" + b
}

func goTimes(a, b string) string { return fmt.Sprintf("T(%s * %s)", a, b) }

// Go returns the Go file of a program.
func Go(of Program) ([]byte, error) {
	p := program{of}
	name := GoName(p.Element.Name)
	row := "row" + name
	axes := []string{"xs", "ys", "zs"}[:p.Dim]
	xs := strings.Join(axes, ", ")
	all := strings.Join(append(axes, "nil")[:3], ", ")
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage fast\n\n%s\n", notice, p.header())
	p.goSubregion(&b)
	if p.Inner != nil {
		p.goClasses(&b)
	}
	fmt.Fprintf(&b, "// %s sets dst[i] to the value of g at the i-th position, for the element %s.\n", name, p.Element.Name)
	fmt.Fprintf(&b, "func %s[T Float](g *Grid[T], dst []T, %s []float64) {\n", name, xs)
	fmt.Fprintf(&b, "%s = %s\nfor len(dst) > 0 {\n", xs, cut(axes, ":len(dst)"))
	fmt.Fprintf(&b, "done, next := native(g, element%s, dst, %s)\n", name, all)
	fmt.Fprintf(&b, "%s(g, dst[done:next], %s)\n", row, cut(axes, "done:next"))
	fmt.Fprintf(&b, "dst, %s = dst[next:], %s\n}\n}\n\n", xs, cut(axes, "next:"))

	fmt.Fprintf(&b, "func %s[T Float](g *Grid[T], dst []T, %s []float64) {\nvar b batch[T]\n", row, xs)
	// Local variables, because the compiler must assume that dst may alias g.
	b.WriteString("stride := g.stride\n")
	if p.Dim == 3 {
		b.WriteString("slice := g.slice\n")
	}
	if len(p.Offsets) == 1 {
		b.WriteString("c := g.cosets[0]\n")
	}
	fmt.Fprintf(&b, "for len(dst) > 0 {\nn, x := b.read(g, %s)\nrow := dst[:n]\n", all)
	set := "row[i] = "
	if len(p.Offsets) > 1 {
		b.WriteString("clear(row)\nfor k, c := range g.cosets {\n")
		set = "row[i] += "
	}
	array := "0"
	if len(p.Offsets) > 1 {
		array = "k"
	}
	fmt.Fprintf(&b, "b.place(g, &x, %s, n, &[3]float64{%s})\n", array, p.up())
	b.WriteString("for i := range row {\n")
	p.goTurn(&b)
	if len(p.Classes) == 1 {
		p.goClass(&b, p.Classes[0], set)
	} else {
		class := fmt.Sprintf("e[%d]", p.class())
		if p.Inner != nil {
			class = fmt.Sprintf("class%s(%s)", name, strings.Join(p.names("v"), ", "))
		}
		fmt.Fprintf(&b, "switch %s {\n", class)
		for i, c := range p.Classes {
			fmt.Fprintf(&b, "case %d:\n", i)
			p.goClass(&b, c, set)
		}
		b.WriteString("}\n")
	}
	b.WriteString("}\n")
	if len(p.Offsets) > 1 {
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "b.finish(row)\ndst, %s = dst[n:], %s\n}\n}\n", xs, cut(axes, "n:"))
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("Go code of %s: %w\n%s", p.Element.Name, err, b.String())
	}
	return text, nil
}

// cut applies part, a slice expression, to each name of a list.
func cut(names []string, part string) string {
	var list []string
	for _, n := range names {
		list = append(list, n+"["+part+"]")
	}
	return strings.Join(list, ", ")
}

// up returns what to add to a position before it is rounded down.
func (p program) up() string {
	list := []string{"0", "0", "0"}
	for k, v := range p.Low {
		list[k] = rational(v.Neg())
	}
	return strings.Join(list, ", ")
}

// goSubregion prints the table of the subregions and the function that finds an entry, unless the
// program shares another's.
func (p program) goSubregion(b *strings.Builder) {
	if !p.turned() || p.Turns != p.Element.Name {
		return
	}
	name := GoName(p.Turns)
	fmt.Fprintf(b, "// turns%s holds, for each index of a subregion, the turn's matrix by rows, the shift and the polynomial.\n", name)
	fmt.Fprintf(b, "var turns%s = [...][%d]int32{\n", name, p.class()+1)
	for _, s := range p.Subregions {
		fmt.Fprintf(b, "{%s},\n", list(p.entry(s)))
	}
	fmt.Fprintf(b, "}\n\n// turn%s returns the entry for a position in the region.\n", name)
	fmt.Fprintf(b, "func turn%s[T Float](%s T) *[%d]int32 {\nindex := 0\n", name, strings.Join(p.names("u"), ", "), p.class()+1)
	if p.Inner != nil {
		for k := range p.Dim {
			fmt.Fprintf(b, "a%d := u%d\nif u%d < 0 {\na%d = -u%d\nindex += %d\n}\n", k, k, k, k, k, 1<<k)
		}
		for i, pair := range plan.FoldPairs {
			fmt.Fprintf(b, "if a%d < a%d {\nindex += %d\n}\n", pair[0], pair[1], 8<<i)
		}
	} else {
		goIndex(b, p.Planes, "u")
	}
	fmt.Fprintf(b, "return &turns%s[index]\n}\n\n", name)
}

// goIndex prints the code that computes a position's index among cuts.
func goIndex(b *strings.Builder, cuts []plan.Cut, coordinate string) {
	for _, c := range cuts {
		for _, o := range c.Offsets {
			fmt.Fprintf(b, "if %s >= %s {\nindex += %d\n}\n", dot(c, coordinate, goTimes), rational(o), c.Stride)
		}
	}
}

// goClasses prints the table of the classes in a folded region and the function that reads it.
func (p program) goClasses(b *strings.Builder) {
	name := GoName(p.Element.Name)
	fmt.Fprintf(b, "var classes%s = [...]uint8{\n%s}\n\n", name, lines(p.InnerClass))
	fmt.Fprintf(b, "// class%s returns the polynomial for a turned position.\n", name)
	fmt.Fprintf(b, "func class%s[T Float](%s T) uint8 {\nindex := 0\n", name, strings.Join(p.names("v"), ", "))
	goIndex(b, p.Inner, "v")
	fmt.Fprintf(b, "return classes%s[index]\n}\n\n", name)
}

// lines prints numbers, several per line.
func lines(v []int) string {
	var b strings.Builder
	for len(v) > 0 {
		n := min(len(v), 32)
		fmt.Fprintf(&b, "\t%s,\n", list(v[:n]))
		v = v[n:]
	}
	return b.String()
}

func list(v []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(v), "[]")), ", ")
}

// goTurn prints the position in the array and how the subregion turns it.
func (p program) goTurn(b *strings.Builder) {
	for k := range p.Dim {
		fmt.Fprintf(b, "u%d := b.u[%d][i]\n", k, k)
	}
	b.WriteString("at := b.at[i]\n")
	if !p.turned() {
		return
	}
	fmt.Fprintf(b, "e := turn%s(%s)\n", GoName(p.Turns), strings.Join(p.names("u"), ", "))
	strides := []string{"1", "stride", "slice"}
	for k := range p.Dim {
		v := p.sum(p.matrixRow(k), p.names("u"), func(c int) string { return fmt.Sprintf("T(e[%d])", c) }, goTimes)
		if s, fixed := p.constant(p.shift(k)); !fixed || s != 0 {
			v += fmt.Sprintf(" + T(e[%d])", p.shift(k))
		}
		if p.uses(k) {
			fmt.Fprintf(b, "v%d := %s\n", k, v)
		}
		s := p.sum(p.matrixRow(k), strides, func(c int) string { return fmt.Sprintf("int(e[%d])", c) },
			stepTimes)
		fmt.Fprintf(b, "s%d := %s\n", k, s)
	}
	for k := range p.Dim {
		if s, fixed := p.constant(p.shift(k)); !fixed || s != 0 {
			fmt.Fprintf(b, "at -= int(e[%d]) * s%d\n", p.shift(k), k)
		}
	}
}

// goClass prints the polynomial of a class.
func (p program) goClass(b *strings.Builder, c *code.Class, result string) {
	names := map[string]string{}
	coordinate := "u"
	if p.turned() {
		coordinate = "v"
	}
	for k := range p.Dim {
		names[fmt.Sprint("v", k)] = fmt.Sprint(coordinate, k)
	}
	if p.turned() {
		for _, i := range p.readOrder(c) {
			fmt.Fprintf(b, "c%d := c[%s]\n", i, placed("at", p.names("s"), c.Sites[i]))
			names[fmt.Sprint("c", i)] = fmt.Sprint("c", i)
		}
	} else {
		p.goRows(b, c, names)
	}
	text := newPrinter(goDialect, c.Exact.Graph, names, []expr.ID{c.Exact.Root}, b)
	value := text.value(c.Exact.Root)
	fmt.Fprintf(b, "%s%s\n", result, value)
}

// goRows prints the rows of coefficients of a class whose sites form a box, as arrays.
func (p program) goRows(b *strings.Builder, c *code.Class, names map[string]string) {
	low, high := c.Sites[0][0], c.Sites[0][0]
	for _, m := range c.Sites {
		low, high = min(low, m[0]), max(high, m[0])
	}
	rows := map[lattice.Point]string{}
	n := high - low + 1
	for i, m := range c.Sites {
		row := lattice.Point{low, m[1], m[2]}
		if rows[row] == "" {
			rows[row] = fmt.Sprint("r", len(rows))
			fmt.Fprintf(b, "o%s := %s\n%s := (*[%d]T)(c[o%s : o%s+%d : o%s+%d])\n", rows[row],
				placed("at", []string{"1", "stride", "slice"}[:p.Dim], row), rows[row], n, rows[row], rows[row], n, rows[row], n)
		}
		names[fmt.Sprint("c", i)] = fmt.Sprintf("%s[%d]", rows[row], m[0]-low)
	}
}

// List returns the Go file that lists the functions of the programs.
func List(programs []Program) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage fast\n\nconst (\n", notice)
	for i, p := range programs {
		fmt.Fprintf(&b, "element%s", GoName(p.Element.Name))
		if i == 0 {
			b.WriteString(" element = iota")
		}
		b.WriteString("\n")
	}
	b.WriteString(")\n\n// Functions lists the generated functions.\nvar Functions = []Function{\n")
	for _, p := range programs {
		name, kind := GoName(p.Element.Name), "Volume"
		if p.Dim == 2 {
			kind = "Plane"
		}
		fmt.Fprintf(&b, "{Element: %q, Along: %v, %s: %s[float64], %s32: %s[float32]},\n", p.Element.Name, p.Along(), kind, name, kind, name)
	}
	b.WriteString("}\n")
	return format.Source([]byte(b.String()))
}
