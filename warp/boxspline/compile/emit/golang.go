package emit

import (
	"fmt"
	"go/format"
	"strings"

	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/compile/expr"
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

func plainNumber(v string) string { return v }

// stepTimes prints an entry of the table times a step, which may be 1.
func stepTimes(a, b string) string {
	if b == "1" {
		return a
	}
	return a + "*" + b
}

func goTimes(a, b string) string { return fmt.Sprintf("T(%s * %s)", a, b) }

// Go returns the Go file of a program.
func Go(of *code.Program) ([]byte, error) {
	p := program{of}
	name := GoName(p.Element.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage fast\n\nimport \"math\"\n\n%s\n", notice, p.header())
	p.goTables(&b, "table"+name)
	axes := []string{"xs", "ys", "zs"}[:p.Dim]
	fmt.Fprintf(&b, "// %s sets dst[i] to the value of g at the i-th position, for the element %s.\n", name, p.Element.Name)
	fmt.Fprintf(&b, "func %s[T Float](g *Grid[T], dst []T, %s []float64) {\n", name, strings.Join(axes, ", "))
	var cut []string
	for _, a := range axes {
		cut = append(cut, a+"[:len(dst)]")
	}
	fmt.Fprintf(&b, "%s = %s\n", strings.Join(axes, ", "), strings.Join(cut, ", "))
	// Locals, because the compiler must take dst for memory that may change g.
	for k := range p.Dim {
		fmt.Fprintf(&b, "limit%d := g.limit[%d]\n", k, k)
	}
	b.WriteString("origin, stride := g.origin, g.stride\n")
	if p.Dim == 3 {
		b.WriteString("slice := g.slice\n")
	}
	if len(p.Offsets) == 1 {
		b.WriteString("c := g.cosets[0]\n")
	}
	b.WriteString("for i := range dst {\n")
	p.goPlace(&b, axes)
	if len(p.Offsets) > 1 {
		b.WriteString("var sum T\nfor k, c := range g.cosets {\n")
		fmt.Fprintf(&b, "o := &offsets%s[k]\n", name)
	}
	p.goArray(&b, "table"+name)
	result := "dst[i] = "
	if len(p.Offsets) > 1 {
		result = "sum += "
	}
	if len(p.Classes) == 1 {
		p.goClass(&b, p.Classes[0], result)
	} else {
		fmt.Fprintf(&b, "switch e[%d] {\n", p.class())
		for i, c := range p.Classes {
			fmt.Fprintf(&b, "case %d:\n", i)
			p.goClass(&b, c, result)
		}
		b.WriteString("}\n")
	}
	if len(p.Offsets) > 1 {
		b.WriteString("}\ndst[i] = sum\n")
	}
	b.WriteString("}\n}\n")
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("Go code of %s: %w\n%s", p.Element.Name, err, b.String())
	}
	return text, nil
}

// goTables prints the table of the subregions and the cosets' offsets.
func (p program) goTables(b *strings.Builder, table string) {
	if p.turned() {
		fmt.Fprintf(b, "// %s has, for each index of a subregion, the turn's matrix by rows, the shift and the polynomial.\n", table)
		fmt.Fprintf(b, "var %s = [...][%d]int32{\n", table, p.class()+1)
		for _, s := range p.Subregions {
			fmt.Fprintf(b, "{%s},\n", list(p.entry(s)))
		}
		b.WriteString("}\n\n")
	}
	if len(p.Offsets) > 1 {
		fmt.Fprintf(b, "var %s = [...][%d]float64{\n", strings.Replace(table, "table", "offsets", 1), p.Dim)
		for _, o := range p.Offsets {
			fmt.Fprintf(b, "{%s},\n", list(o[:p.Dim]))
		}
		b.WriteString("}\n\n")
	}
}

func list(v []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(v), "[]")), ", ")
}

// goPlace prints the position, folded into the box.
func (p program) goPlace(b *strings.Builder, axes []string) {
	var read, inside []string
	for k, a := range axes {
		read = append(read, a+"[i]")
		inside = append(inside, fmt.Sprintf("x%d >= 0 && x%d <= limit%d", k, k, k))
	}
	x := strings.Join(p.names("x"), ", ")
	fmt.Fprintf(b, "%s := %s\n", x, strings.Join(read, ", "))
	fmt.Fprintf(b, "if !(%s) {\n", strings.Join(inside, " && "))
	if p.Dim == 2 {
		fmt.Fprintf(b, "%s, _ = g.fold(%s, 0)\n", x, x)
	} else {
		fmt.Fprintf(b, "%s = g.fold(%s)\n", x, x)
	}
	b.WriteString("if x0 != x0 {\ndst[i] = T(math.NaN())\ncontinue\n}\n}\n")
}

// goArray prints the place in the array, and how the subregion turns it.
func (p program) goArray(b *strings.Builder, table string) {
	several := len(p.Offsets) > 1
	for k := range p.Dim {
		y := p.position(k, lattice.Point{}, plainNumber)
		if several {
			// The lattices with several cosets have diagonal grids.
			y = strings.Replace(y, fmt.Sprintf("(x%d)", k), fmt.Sprintf("(x%d - o[%d])", k, k), 1)
		}
		fmt.Fprintf(b, "y%d := %s\nn%d := floor(%s)\nu%d := T(y%d - float64(n%d))\n", k, y, k, p.minusLow(fmt.Sprint("y", k), k, plainNumber), k, k, k)
	}
	b.WriteString("at := origin + n0 + n1*stride")
	if p.Dim == 3 {
		b.WriteString(" + n2*slice")
	}
	b.WriteString("\n")
	if !p.turned() {
		return
	}
	b.WriteString("index := 0\n")
	for _, c := range p.Planes {
		d := dot(c, goTimes)
		for _, o := range c.Offsets {
			fmt.Fprintf(b, "if %s >= %s {\nindex += %d\n}\n", d, rational(o), c.Stride)
		}
	}
	fmt.Fprintf(b, "e := &%s[index]\n", table)
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
func List(programs []*code.Program) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage fast\n\n// Functions lists the generated functions.\nvar Functions = []Function{\n", notice)
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
