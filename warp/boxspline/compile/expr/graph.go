// Package expr represents arithmetic expressions as graphs in which equal subexpressions share one
// node, turns polynomials into such graphs by Horner forms in several variables, and counts what a
// graph costs.
package expr

import (
	"fmt"
	"slices"

	"retime/warp/boxspline/exact"
)

// ID is a node of a graph.
type ID int

// Op is what a node computes.
type Op int

// The operations. Leaves are constants and variables.
const (
	Const Op = iota
	Var
	Add
	Sub
	Mul
	Div
	Neg
)

// Node is an operation on the nodes A and B.
type Node struct {
	Op    Op
	A, B  ID
	Value exact.Rat // of a constant
	Name  string    // of a variable
}

// Graph is a set of expressions. A node follows the nodes that it needs.
type Graph struct {
	Nodes []Node
	index map[string]ID
	forms map[string]*Form // results of Search, by the texts of monomials
}

// New returns an empty graph.
func New() *Graph { return &Graph{index: map[string]ID{}, forms: map[string]*Form{}} }

func (g *Graph) node(n Node) ID {
	key := fmt.Sprint(n.Op, n.A, n.B, n.Value, n.Name)
	if id, ok := g.index[key]; ok {
		return id
	}
	id := ID(len(g.Nodes))
	g.Nodes = append(g.Nodes, n)
	g.index[key] = id
	return id
}

// Const returns the constant v.
func (g *Graph) Const(v exact.Rat) ID { return g.node(Node{Op: Const, Value: v}) }

// Var returns the variable with the given name.
func (g *Graph) Var(name string) ID { return g.node(Node{Op: Var, Name: name}) }

func (g *Graph) is(a ID, n int) bool {
	return g.Nodes[a].Op == Const && g.Nodes[a].Value.Cmp(exact.Int(n)) == 0
}

// Add returns a + b.
func (g *Graph) Add(a, b ID) ID {
	switch {
	case g.is(a, 0):
		return b
	case g.is(b, 0):
		return a
	case g.Nodes[b].Op == Neg:
		return g.Sub(a, g.Nodes[b].A)
	case g.Nodes[a].Op == Neg:
		return g.Sub(b, g.Nodes[a].A)
	case g.Nodes[b].Op == Const && g.Nodes[b].Value.Sign() < 0:
		return g.node(Node{Op: Sub, A: a, B: g.Const(g.Nodes[b].Value.Neg())})
	}
	return g.node(Node{Op: Add, A: a, B: b})
}

// Sub returns a - b.
func (g *Graph) Sub(a, b ID) ID {
	switch {
	case g.is(b, 0):
		return a
	case g.is(a, 0):
		return g.Neg(b)
	case g.Nodes[b].Op == Neg:
		return g.Add(a, g.Nodes[b].A)
	}
	return g.node(Node{Op: Sub, A: a, B: b})
}

// Neg returns -a.
func (g *Graph) Neg(a ID) ID {
	switch n := g.Nodes[a]; n.Op {
	case Neg:
		return n.A
	case Const:
		return g.Const(n.Value.Neg())
	}
	return g.node(Node{Op: Neg, A: a})
}

// Mul returns a b.
func (g *Graph) Mul(a, b ID) ID {
	if g.Nodes[b].Op == Const {
		a, b = b, a
	}
	switch {
	case g.is(a, 0):
		return a
	case g.is(a, 1):
		return b
	case g.is(a, -1):
		return g.Neg(b)
	case g.Nodes[a].Op == Neg:
		return g.Neg(g.Mul(g.Nodes[a].A, b))
	case g.Nodes[b].Op == Neg:
		return g.Neg(g.Mul(a, g.Nodes[b].A))
	}
	if g.Nodes[a].Op != Const && a > b {
		a, b = b, a
	}
	return g.node(Node{Op: Mul, A: a, B: b})
}

// Div returns a / b.
func (g *Graph) Div(a, b ID) ID { return g.node(Node{Op: Div, A: a, B: b}) }

// Sum returns the sum of the list, from the first to the last.
func (g *Graph) Sum(list []ID) ID {
	s := g.Const(exact.Int(0))
	for _, a := range list {
		s = g.Add(s, a)
	}
	return s
}

// needs returns the nodes that n computes from.
func (n Node) needs() []ID {
	switch n.Op {
	case Const, Var:
		return nil
	case Neg:
		return []ID{n.A}
	}
	return []ID{n.A, n.B}
}

// Reach returns the nodes that the roots need, in the order of the graph, and how often each is
// used; being a root counts as one use.
func (g *Graph) Reach(roots []ID) (order []ID, uses map[ID]int) {
	uses = map[ID]int{}
	var visit func(id ID)
	visit = func(id ID) {
		if uses[id]++; uses[id] > 1 {
			return
		}
		for _, a := range g.Nodes[id].needs() {
			visit(a)
		}
		order = append(order, id)
	}
	for _, r := range roots {
		visit(r)
	}
	slices.Sort(order)
	return order, uses
}

// Cost counts the operations for the roots, and the largest number of values that are alive at once
// in the order of the graph.
type Cost struct{ Mul, Add, Live int }

// Total returns the number of operations.
func (c Cost) Total() int { return c.Mul + c.Add }

// Cost returns the cost of the roots.
func (g *Graph) Cost(roots ...ID) Cost {
	order, _ := g.Reach(roots)
	last := map[ID]int{}
	var c Cost
	for i, id := range order {
		switch g.Nodes[id].Op {
		case Mul, Div:
			c.Mul++
		case Add, Sub:
			c.Add++
		}
		for _, a := range g.Nodes[id].needs() {
			last[a] = i
		}
	}
	for _, r := range roots {
		last[r] = len(order)
	}
	alive := map[ID]bool{}
	for i, id := range order {
		if g.Nodes[id].Op != Const {
			alive[id] = true
		}
		c.Live = max(c.Live, len(alive))
		for a := range alive {
			if last[a] <= i {
				delete(alive, a)
			}
		}
	}
	return c
}

// IsOne reports whether a is the constant 1.
func (g *Graph) IsOne(a ID) bool { return g.is(a, 1) }
