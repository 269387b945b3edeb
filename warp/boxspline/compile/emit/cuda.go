package emit

import (
	"fmt"
	"strings"

	"retime/warp/boxspline/compile/code"
	"retime/warp/boxspline/compile/expr"
	"retime/warp/boxspline/compile/plan"
)

// CUDAName returns the name of an element in CUDA: bcc_quintic for "bcc-quintic".
func CUDAName(element string) string { return strings.ReplaceAll(element, "-", "_") }

func cudaTimes(a, b string) string { return fmt.Sprintf("T(%s) * %s", a, b) }

func cudaNumber(v string) string { return "P(" + v + ")" }

// cuda prints the functions of a program: NAME evaluates it from single coefficients,
// NAME_branching does so with a branch for each subregion, and NAME_linear by linear
// look-ups.
func (p program) cuda(b *strings.Builder) {
	name := CUDAName(p.Element.Name)
	fmt.Fprintf(b, "\n%s\n", p.header())
	p.cudaSubregion(b)
	p.cudaClasses(b, name)
	for i, c := range p.Classes {
		p.cudaPolynomial(b, name, i, c)
	}
	p.cudaArray(b, name)
	p.cudaWhole(b, name, "", "template <typename T, typename P>\n", "T", "const T *c, ", "c + %d * g.coset")
	if p.branches() {
		p.cudaBranching(b, name)
		p.cudaWhole(b, name, "_branching", "template <typename T, typename P>\n", "T", "const T *c, ", "c + %d * g.coset")
	}
	p.cudaLinear(b, name)
	p.cudaWhole(b, name, "_linear", "template <typename Fetch, typename P>\n", "float", "const Fetch &fetch, ", "fetch, %d")
}

// cudaPolynomial prints the function of a class.
func (p program) cudaPolynomial(b *strings.Builder, name string, i int, c *code.Class) {
	names := map[string]string{}
	fmt.Fprintf(b, "template <typename T>\nBOXSPLINE T %s_polynomial%d(const T *c, int s0, int s1, int s2, T v0, T v1, T v2) {\n", name, i)
	var body strings.Builder
	for k := range p.Dim {
		names[fmt.Sprint("v", k)] = fmt.Sprint("v", k)
	}
	for _, k := range p.readOrder(c) {
		at := strings.TrimPrefix(placed("", []string{"s0", "s1", "s2"}, c.Sites[k]), " + ")
		if at == "" {
			at = "0"
		}
		fmt.Fprintf(&body, "const T c%d = c[%s];\n", k, strings.TrimSpace(at))
		names[fmt.Sprint("c", k)] = fmt.Sprint("c", k)
	}
	text := newPrinter(cudaDialect, c.Exact.Graph, names, []expr.ID{c.Exact.Root}, &body)
	fmt.Fprintf(&body, "return %s;\n", text.value(c.Exact.Root))
	b.WriteString(indented(body.String()))
	b.WriteString("}\n\n")
}

func indented(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return "\t" + strings.Join(lines, "\n\t") + "\n"
}

// cudaSubregion prints the table of the subregions and the function that finds an index, unless the
// program shares another's.
func (p program) cudaSubregion(b *strings.Builder) {
	if !p.turned() || p.Turns != p.Element.Name {
		return
	}
	name := CUDAName(p.Turns)
	b.WriteString("// The turn's matrix by rows, the shift and the polynomial for each index of a subregion.\n")
	fmt.Fprintf(b, "static __device__ const signed char %s_table[][%d] = {\n", name, p.class()+1)
	for _, s := range p.Subregions {
		fmt.Fprintf(b, "\t{%s},\n", list(p.entry(s)))
	}
	fmt.Fprintf(b, "};\n\ntemplate <typename T>\nBOXSPLINE int %s_subregion(T %s) {\n\tint index = 0;\n", name, strings.Join(p.names("u"), ", T "))
	if p.Inner != nil {
		for k := range p.Dim {
			fmt.Fprintf(b, "\tindex += (u%d < T(0)) * %d;\n\tconst T a%d = u%d < T(0) ? -u%d : u%d;\n", k, 1<<k, k, k, k, k)
		}
		for i, pair := range plan.FoldPairs {
			fmt.Fprintf(b, "\tindex += (a%d < a%d) * %d;\n", pair[0], pair[1], 8<<i)
		}
	} else {
		cudaIndex(b, p.Planes, "u")
	}
	b.WriteString("\treturn index;\n}\n\n")
}

// cudaIndex prints the code that computes a position's index among cuts.
func cudaIndex(b *strings.Builder, cuts []plan.Cut, coordinate string) {
	for _, c := range cuts {
		for _, o := range c.Offsets {
			fmt.Fprintf(b, "\tindex += (%s >= T(%s)) * %d;\n", dot(c, coordinate, cudaTimes), rational(o), c.Stride)
		}
	}
}

// cudaClasses prints the table of the classes in a folded region and the function that reads it.
func (p program) cudaClasses(b *strings.Builder, name string) {
	if p.Inner == nil {
		return
	}
	fmt.Fprintf(b, "static __device__ const unsigned char %s_classes[] = {\n%s};\n\n", name, lines(p.InnerClass))
	fmt.Fprintf(b, "template <typename T>\nBOXSPLINE int %s_class(T %s) {\n\tint index = 0;\n", name, strings.Join(p.names("v"), ", T "))
	cudaIndex(b, p.Inner, "v")
	fmt.Fprintf(b, "\treturn %s_classes[index];\n}\n\n", name)
}

// cudaClass returns an expression for the number of the class.
func (p program) cudaClass(name string) string {
	if p.Inner != nil {
		return fmt.Sprintf("%s_class<T>(%s)", name, strings.Join(p.names("v"), ", "))
	}
	return fmt.Sprintf("e[%d]", p.class())
}

// cudaPlace prints the position in the array and the index of the subregion.
func (p program) cudaPlace(b *strings.Builder) {
	for k := range p.Dim {
		fmt.Fprintf(b, "const P f%d = lower(%s);\nconst int n%d = (int)f%d;\nconst T u%d = T(y%d - f%d);\n",
			k, p.minusLow(fmt.Sprint("y", k), k, cudaNumber), k, k, k, k, k)
	}
	if p.turned() {
		fmt.Fprintf(b, "const int index = %s_subregion<T>(%s);\n", CUDAName(p.Turns), strings.Join(p.names("u"), ", "))
	}
}

// cudaTurn prints the coordinates v and the steps s of the subregion.
func (p program) cudaTurn(b *strings.Builder, needed func(k int) bool) {
	fmt.Fprintf(b, "const signed char *e = %s_table[index];\n", CUDAName(p.Turns))
	for k := range p.Dim {
		if !needed(k) {
			continue
		}
		v := p.sum(p.matrixRow(k), p.names("u"), func(c int) string { return fmt.Sprintf("e[%d]", c) }, cudaTimes)
		if s, fixed := p.constant(p.shift(k)); !fixed || s != 0 {
			v += fmt.Sprintf(" + T(e[%d])", p.shift(k))
		}
		fmt.Fprintf(b, "const T v%d = %s;\n", k, v)
	}
}

// linearUses reports whether the look-ups of a class need coordinate k.
func (p program) linearUses(k int) bool {
	if p.Inner != nil {
		return true
	}
	for _, c := range p.Classes {
		order, _ := c.Linear.Graph.Reach(c.Linear.Roots())
		for _, id := range order {
			if c.Linear.Graph.Nodes[id].Name == fmt.Sprint("v", k) {
				return true
			}
		}
	}
	return false
}

func (p program) cudaAt(b *strings.Builder) {
	b.WriteString("c += n0 + (long long)n1 * g.stride")
	if p.Dim == 3 {
		b.WriteString(" + (long long)n2 * g.slice")
	}
	b.WriteString(";\n")
}

// three pads a list to three arguments.
func three(names []string) string {
	for len(names) < 3 {
		names = append(names[:len(names):len(names)], "0")
	}
	return strings.Join(names, ", ")
}

// cudaArray prints the function for one array.
func (p program) cudaArray(b *strings.Builder, name string) {
	fmt.Fprintf(b, "template <typename T, typename P>\nBOXSPLINE T %s_array(const T *c, const Grid &g, %s) {\n", name, arguments(p.names("y")))
	var body strings.Builder
	p.cudaPlace(&body)
	p.cudaAt(&body)
	if !p.turned() {
		fmt.Fprintf(&body, "return %s_polynomial0<T>(c, 1, g.stride, g.slice, %s);\n", name, three(p.names("u")))
	} else {
		p.cudaTurn(&body, func(int) bool { return true })
		strides := []string{"1", "g.stride", "g.slice"}
		for k := range p.Dim {
			fmt.Fprintf(&body, "const int s%d = %s;\n", k, p.sum(p.matrixRow(k), strides, func(c int) string { return fmt.Sprintf("e[%d]", c) }, stepTimes))
		}
		for k := range p.Dim {
			if s, fixed := p.constant(p.shift(k)); !fixed || s != 0 {
				fmt.Fprintf(&body, "c -= e[%d] * s%d;\n", p.shift(k), k)
			}
		}
		if len(p.Classes) > 1 {
			fmt.Fprintf(&body, "const int which = %s;\n", p.cudaClass(name))
		}
		for i := range p.Classes {
			test := fmt.Sprintf("if (which == %d) ", i)
			if i == len(p.Classes)-1 {
				test = ""
			}
			fmt.Fprintf(&body, "%sreturn %s_polynomial%d<T>(c, %s, %s);\n", test, name, i, three(p.names("s")), three(p.names("v")))
		}
	}
	b.WriteString(indented(body.String()))
	b.WriteString("}\n\n")
}

func arguments(names []string) string { return "P " + strings.Join(names, ", P ") }

// cudaBranching prints the function for one array that branches to each subregion.
func (p program) cudaBranching(b *strings.Builder, name string) {
	fmt.Fprintf(b, "template <typename T, typename P>\nBOXSPLINE T %s_branching_array(const T *c, const Grid &g, %s) {\n", name, arguments(p.names("y")))
	var body strings.Builder
	p.cudaPlace(&body)
	body.WriteString("const T *first = c;\n")
	p.cudaAt(&body)
	body.WriteString("switch (index) {\n")
	strides := []string{"1", "g.stride", "g.slice"}
	for i, s := range p.Subregions {
		if s.Empty {
			continue
		}
		var v, steps []string
		at := "c"
		for k := range p.Dim {
			sign := ""
			if s.Turn.Sign[k] < 0 {
				sign = "-"
			}
			text := fmt.Sprintf("%su%d", sign, s.Turn.Axis[k])
			if s.Shift[k] != 0 {
				text += fmt.Sprintf(" + T(%d)", s.Shift[k])
			}
			v, steps = append(v, text), append(steps, sign+strides[s.Turn.Axis[k]])
			if s.Shift[k] != 0 {
				at += fmt.Sprintf(" - %d * (%s%s)", s.Shift[k], sign, strides[s.Turn.Axis[k]])
			}
		}
		fmt.Fprintf(&body, "case %d: return %s_polynomial%d<T>(%s, %s, %s);\n", i, name, s.Class, at, three(steps), three(v))
	}
	// Rounding may lead to an index that no point has.
	fmt.Fprintf(&body, "}\nreturn %s_array<T, P>(first, g, %s);\n", name, strings.Join(p.names("y"), ", "))
	b.WriteString(indented(body.String()))
	b.WriteString("}\n\n")
}

// cudaWhole prints the function that sums over the arrays.
func (p program) cudaWhole(b *strings.Builder, name, suffix, template, result, source, array string) {
	fmt.Fprintf(b, "%sBOXSPLINE %s %s%s(%sconst Grid &g, P x0, P x1, P x2) {\n", template, result, name, suffix, source)
	var terms []string
	for i, o := range p.Offsets {
		var y []string
		for k := range p.Dim {
			y = append(y, p.position(k, o, cudaNumber))
		}
		first := fmt.Sprintf(array, i)
		if first == "c + 0 * g.coset" {
			first = "c"
		}
		var arguments string
		if strings.HasPrefix(source, "const T") {
			arguments = fmt.Sprintf("<T, P>(%s, g, ", first)
		} else {
			arguments = fmt.Sprintf("<Fetch, P>(%s, ", first)
		}
		terms = append(terms, fmt.Sprintf("%s%s_array%s%s)", name, suffix, arguments, strings.Join(y, ", ")))
	}
	if len(terms) == 1 {
		fmt.Fprintf(b, "\treturn %s;\n}\n\n", terms[0])
		return
	}
	fmt.Fprintf(b, "\t%s sum = 0;\n", result)
	for _, t := range terms {
		fmt.Fprintf(b, "\tsum += %s;\n", t)
	}
	b.WriteString("\treturn sum;\n}\n\n")
}

// cudaLinear prints the function for one array by linear look-ups.
func (p program) cudaLinear(b *strings.Builder, name string) {
	fmt.Fprintf(b, "template <typename Fetch, typename P>\nBOXSPLINE float %s_linear_array(const Fetch &fetch, int array, %s) {\n", name, arguments(p.names("y")))
	var body strings.Builder
	body.WriteString("typedef float T;\n")
	p.cudaPlace(&body)
	for k := range p.Dim {
		fmt.Fprintf(&body, "T o%d = T(n%d);\n", k, k)
	}
	if p.turned() {
		p.cudaTurn(&body, p.linearUses)
		for a := range p.Dim {
			for k := range p.Dim {
				if s, fixed := p.constant(p.shift(k)); fixed && s == 0 {
					continue
				}
				if m, fixed := p.constant(k*p.Dim + a); fixed && m == 0 {
					continue
				}
				fmt.Fprintf(&body, "o%d -= T(e[%d] * e[%d]);\n", a, k*p.Dim+a, p.shift(k))
			}
		}
	}
	body.WriteString("T sum = 0;\n")
	if len(p.Classes) > 1 {
		fmt.Fprintf(&body, "const int which = %s;\n", p.cudaClass(name))
	}
	for i, c := range p.Classes {
		if len(p.Classes) > 1 {
			fmt.Fprintf(&body, "if (which == %d) {\n", i)
		}
		p.cudaLookUps(&body, c)
		if len(p.Classes) > 1 {
			body.WriteString("}\n")
		}
	}
	body.WriteString("return sum;\n")
	b.WriteString(indented(body.String()))
	b.WriteString("}\n\n")
}

func (p program) cudaLookUps(b *strings.Builder, c *code.Class) {
	names := map[string]string{code.Tiny: "1e-30f"}
	coordinate := "u"
	if p.turned() {
		coordinate = "v"
	}
	for k := range p.Dim {
		names[fmt.Sprint("v", k)] = fmt.Sprint(coordinate, k)
	}
	text := newPrinter(cudaDialect, c.Linear.Graph, names, c.Linear.Roots(), b)
	for _, l := range c.Linear.LookUps {
		weight := text.tight(l.Weight)
		// The position in the class's coordinates, whose unit steps are the array's, turned.
		var q []string
		var columns []int
		for k := range p.Dim {
			at := ""
			if l.Site[k] != 0 {
				at = fmt.Sprintf("T(%d)", l.Site[k])
			}
			if l.Span[k] > 0 {
				name := fmt.Sprint("h", text.next)
				text.next++
				place := strings.TrimPrefix(at+" + "+text.value(l.Fractions[k]), " + ")
				fmt.Fprintf(b, "const T %s = %s;\n", name, place)
				at = name
			}
			if at != "" {
				q, columns = append(q, at), append(columns, k)
			}
		}
		place := make([]string, p.Dim)
		for a := range place {
			place[a] = fmt.Sprintf("o%d", a)
			for i, k := range columns {
				switch {
				case p.turned():
					place[a] += fmt.Sprintf(" + T(e[%d]) * %s", k*p.Dim+a, q[i])
				case k == a:
					place[a] += " + " + q[i]
				}
			}
		}
		fmt.Fprintf(b, "sum += %s * fetch(array, %s);\n", weight, three(place))
	}
}

// Kernels returns the CUDA source of the programs and their kernels.
func Kernels(programs []Program) []byte {
	var b strings.Builder
	b.WriteString(notice + "\n#include \"boxspline_kernels.cuh\"\n")
	for _, p := range programs {
		program{p}.cuda(&b)
	}
	for _, p := range programs {
		name := CUDAName(p.Element.Name)
		fmt.Fprintf(&b, "BOXSPLINE_EXACT(%s, %s_f32, float)\nBOXSPLINE_EXACT(%s, %s_f64, double)\n", name, name, name, name)
		if (program{p}).branches() {
			fmt.Fprintf(&b, "BOXSPLINE_EXACT(%s_branching, %s_branching, float)\n", name, name)
		}
		fmt.Fprintf(&b, "BOXSPLINE_LINEAR(%s_linear, %s_linear, %d)\nBOXSPLINE_SOFT(%s_linear, %s_soft)\n", name, name, p.Dim, name, name)
	}
	return []byte(b.String())
}
