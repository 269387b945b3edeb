package emit

import (
	"strings"
	"testing"

	"retime/warp/boxspline/compile/expr"
	"retime/warp/boxspline/exact"
)

// A product that is a factor is computed first in every language, because rounding depends on it.
func TestProductOfProducts(t *testing.T) {
	g := expr.New()
	a, b := g.Var("a"), g.Var("b")
	root := g.Mul(a, g.Mul(g.Const(exact.Int(3)), b))
	names := map[string]string{"a": "a", "b": "b"}
	for _, c := range []struct {
		name    string
		dialect dialect
		want    string
	}{
		{"Go", goDialect, "T(a * T(3 * b))"},
		{"C", cDialect, "a * (K(3) * b)"},
		{"CUDA", cudaDialect, "a * (T(3) * b)"},
	} {
		var out strings.Builder
		if got := newPrinter(c.dialect, g, names, nil, &out).value(root); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
