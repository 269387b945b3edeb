// Package emit prints programs as Go, C and CUDA C++, with the same operations in the same order,
// and reports what they cost.
package emit

import (
	"fmt"
	"strings"

	"retime/warp/boxspline/compile/expr"
	"retime/warp/boxspline/exact"
)

// dialect is how a language's expressions differ from the others'.
type dialect struct {
	product  string // format of a rounded product
	quotient string
	constant func(exact.Rat) string
	declare  string // format of a variable's declaration
}

var goDialect = dialect{
	product: "T(%s * %s)", quotient: "%s / %s", declare: "%s := %s\n",
	constant: func(v exact.Rat) string {
		num, den := v.Fraction()
		if den == 1 {
			return fmt.Sprint(num)
		}
		return fmt.Sprintf("(%d.0 / %d)", num, den)
	},
}

var cudaDialect = dialect{
	product: "%s * %s", quotient: "%s / %s", declare: "const T %s = %s;\n",
	constant: func(v exact.Rat) string {
		if num, den := v.Fraction(); den == 1 {
			return fmt.Sprintf("T(%d)", num)
		}
		// The CUDA compiler rounds to double before it rounds to float.
		if direct, _ := v.Big().Float32(); direct != float32(v.Float()) {
			panic(fmt.Sprintf("emit: %v rounds twice", v))
		}
		return fmt.Sprintf("T(%.17g)", v.Float())
	},
}

var cDialect = dialect{
	product: "%s * %s", quotient: "%s / %s", declare: "const V %s = %s;\n",
	constant: func(v exact.Rat) string {
		return "K" + strings.TrimPrefix(cudaDialect.constant(v), "T")
	},
}

// width is the length at which an expression gets a variable of its own.
const width = 88

// printer prints the nodes that roots need.
type printer struct {
	dialect
	graph *expr.Graph
	names map[string]string // names of variables
	uses  map[expr.ID]int
	text  map[expr.ID]string
	loose map[expr.ID]bool // whether the text is a sum
	next  int
	out   *strings.Builder
	// before prints what a variable needs before its first use.
	before func(name string)
}

func newPrinter(d dialect, g *expr.Graph, names map[string]string, roots []expr.ID, out *strings.Builder) *printer {
	_, uses := g.Reach(roots)
	return &printer{dialect: d, graph: g, names: names, uses: uses, text: map[expr.ID]string{}, loose: map[expr.ID]bool{}, out: out, before: func(string) {}}
}

// value returns the expression of a node, after printing the variables that it needs.
func (p *printer) value(id expr.ID) string {
	if t, ok := p.text[id]; ok {
		return t
	}
	n := p.graph.Nodes[id]
	t, loose := "", false
	switch n.Op {
	case expr.Const:
		t = p.constant(n.Value)
	case expr.Var:
		p.before(n.Name)
		t = p.names[n.Name]
		if t == "" {
			panic("emit: no name for " + n.Name)
		}
	case expr.Add, expr.Sub:
		a := p.value(n.A)
		b := p.value(n.B)
		sign := " + "
		if n.Op == expr.Sub {
			sign = " - "
		}
		if p.loose[n.B] {
			b = "(" + b + ")"
		}
		t, loose = a+sign+b, true
	case expr.Mul:
		t = fmt.Sprintf(p.product, p.tight(n.A), p.tight(n.B))
		loose = !strings.HasPrefix(p.product, "T(")
	case expr.Div:
		t, loose = fmt.Sprintf(p.quotient, p.tight(n.A), p.tight(n.B)), true
	case expr.Neg:
		t, loose = "-"+p.tight(n.A), true
	}
	leaf := n.Op == expr.Const || n.Op == expr.Var
	if !leaf && (p.uses[id] > 1 || len(t) > width) {
		name := fmt.Sprint("t", p.next)
		p.next++
		fmt.Fprintf(p.out, p.declare, name, t)
		t, loose = name, false
	}
	p.text[id], p.loose[id] = t, loose
	return t
}

// tight returns the expression of a node for use as a factor.
func (p *printer) tight(id expr.ID) string {
	t := p.value(id)
	if p.loose[id] {
		return "(" + t + ")"
	}
	return t
}
