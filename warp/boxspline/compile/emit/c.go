package emit

import (
	"fmt"
	"strings"

	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/compile/expr"
	"retime/warp/boxspline/lattice"
)

func cTimes(a, b string) string { return fmt.Sprintf("%s * %s", a, b) }

// inC reports whether there is a C loop for the program, which requires that all lanes of a vector
// evaluate the same polynomial.
func (p program) inC() bool { return len(p.Classes) == 1 }

// C returns the header with the programs' C loops, which run.h includes once for each type.
func C(programs []Program) []byte {
	var b strings.Builder
	b.WriteString(notice + "\n// run.h defines T, V, I, K and NAME.\n\n")
	for _, of := range programs {
		if p := (program{of}); p.inC() {
			p.cPart(&b)
		}
	}
	b.WriteString("static const struct {\n\tNAME(part) *part;\n\tint64_t dim, arrays; // of the grids that it accepts\n\tdouble up[3];\n} NAME(elements)[] = {\n")
	for _, of := range programs {
		p := program{of}
		part := "0"
		if p.inC() {
			part = fmt.Sprintf("NAME(%s)", CUDAName(p.Element.Name))
		}
		fmt.Fprintf(&b, "\t{%s, %d, %d, {%s}},\n", part, p.Dim, len(p.Offsets), p.up())
	}
	b.WriteString("};\n")
	return []byte(b.String())
}

// cPart prints a program's function and, before it, its table.
func (p program) cPart(b *strings.Builder) {
	name := CUDAName(p.Element.Name)
	if p.turned() && p.Turns == p.Element.Name {
		p.cTable(b, name)
	}
	fmt.Fprintf(b, "// Element %s.\nPART(%s) {\n", p.Element.Name, name)
	var body strings.Builder
	body.WriteString("for (int64_t i = 0; i < n; i += lanes) {\n")
	var inner strings.Builder
	for k := range p.Dim {
		fmt.Fprintf(&inner, "const V u%d = load(b->u[%d] + i);\n", k, k)
	}
	if p.turned() {
		p.cTurn(&inner)
	} else {
		inner.WriteString("const int64_t *at = b->at + i;\n")
	}
	value := p.cClass(&inner, p.Classes[0])
	if len(p.Offsets) > 1 {
		value = "load(dst + i) + (" + value + ")"
	}
	if !p.turned() && !strings.Contains(inner.String(), "stride") {
		body.Reset()
		body.WriteString("(void)g;\nfor (int64_t i = 0; i < n; i += lanes) {\n")
	}
	fmt.Fprintf(&inner, "store(dst + i, %s, n - i);\n", value)
	body.WriteString(indented(inner.String()) + "}\n")
	b.WriteString(indented(body.String()) + "}\n\n")
}

// cTable prints the tables of the subregions: one of small integers, and one of the turns' rows and
// shifts as numbers of the type.
func (p program) cTable(b *strings.Builder, name string) {
	fmt.Fprintf(b, "static const int8_t NAME(%s_table)[][%d] = {\n", name, p.class()+1)
	for _, s := range p.Subregions {
		fmt.Fprintf(b, "\t{%s},\n", list(p.entry(s)))
	}
	fmt.Fprintf(b, "};\nstatic const T NAME(%s_values)[][%d][4] = {\n", name, p.Dim)
	for _, s := range p.Subregions {
		e := p.entry(s)
		var rows []string
		for k := range p.Dim {
			row := append([]int(nil), e[k*p.Dim:(k+1)*p.Dim]...)
			row = append(row, e[p.shift(k)], 0)[:4]
			rows = append(rows, "{"+list(row)+"}")
		}
		fmt.Fprintf(b, "\t{%s},\n", strings.Join(rows, ", "))
	}
	b.WriteString("};\n\n")
}

// cTurn prints the computation of the subregion's index and of what it turns.
func (p program) cTurn(b *strings.Builder) {
	b.WriteString("I index = {0};\n")
	for _, c := range p.Planes {
		for _, o := range c.Offsets {
			limit := cDialect.constant(o)
			fmt.Fprintf(b, "index += (I)(%s >= %s) & %d;\n", dot(c, "u", cTimes), limit, c.Stride)
		}
	}
	table := CUDAName(p.Turns)
	fmt.Fprintf(b, "V turn[%d][4];\nint64_t s[%d][most_lanes], p[most_lanes];\n", p.Dim, p.Dim)
	fmt.Fprintf(b, "NAME(turns%d)(turn, s, p, index, b->at + i, g, NAME(%s_table), NAME(%s_values));\n", p.Dim, table, table)
	for k := range p.Dim {
		if !p.uses(k) {
			continue
		}
		v := p.sum(p.matrixRow(k), p.names("u"), func(c int) string { return fmt.Sprintf("turn[%d][%d]", k, c-k*p.Dim) }, cTimes)
		if s, fixed := p.constant(p.shift(k)); !fixed || s != 0 {
			v += fmt.Sprintf(" + turn[%d][%d]", k, p.Dim)
		}
		fmt.Fprintf(b, "const V v%d = %s;\n", k, v)
	}
}

// cClass prints the polynomial of a class, and returns its value.
func (p program) cClass(b *strings.Builder, c *code.Class) string {
	names := map[string]string{}
	coordinate := "u"
	if p.turned() {
		coordinate = "v"
	}
	for k := range p.Dim {
		names[fmt.Sprint("v", k)] = fmt.Sprint(coordinate, k)
	}
	text := newPrinter(cDialect, c.Exact.Graph, names, []expr.ID{c.Exact.Root}, b)
	if p.turned() {
		steps := make([]string, p.Dim)
		for k := range steps {
			steps[k] = fmt.Sprintf("s[%d][j]", k)
		}
		for _, i := range p.readOrder(c) {
			fmt.Fprintf(b, "const V c%d = GATHER(%s);\n", i, placed("p[j]", steps, c.Sites[i]))
			names[fmt.Sprint("c", i)] = fmt.Sprint("c", i)
		}
	} else {
		p.cRows(text, c)
	}
	return text.value(c.Exact.Root)
}

// cRows prints the rows of coefficients of a class whose sites form a box, each before it is first
// used.
func (p program) cRows(text *printer, c *code.Class) {
	low, high := c.Sites[0][0], c.Sites[0][0]
	for _, m := range c.Sites {
		low, high = min(low, m[0]), max(high, m[0])
	}
	rows := map[lattice.Point]string{}
	site := map[string]lattice.Point{}
	for i, m := range c.Sites {
		site[fmt.Sprint("c", i)] = m
	}
	text.before = func(name string) {
		m, ok := site[name]
		if !ok {
			return
		}
		row := lattice.Point{low, m[1], m[2]}
		if rows[row] == "" {
			rows[row] = fmt.Sprint("r", len(rows))
			from := placed("0", []string{"1", "g->stride", "g->slice"}[:p.Dim], row)
			from = strings.TrimPrefix(strings.TrimPrefix(from, "0 + "), "0 ")
			fmt.Fprintf(text.out, "V %s[4];\nROW%d(%s, %s);\n", rows[row], high-low+1, rows[row], from)
		}
		text.names[name] = fmt.Sprintf("%s[%d]", rows[row], m[0]-low)
	}
}
