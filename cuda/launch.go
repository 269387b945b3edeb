package cuda

import "math"

// Arg is an argument of a kernel: a scalar or an address in the low bytes of eight, all of which
// the driver's binding copies.
type Arg struct{ bits uint64 }

// Int returns an argument of type int.
func Int(v int) Arg { return Arg{uint64(uint32(int32(v)))} }

// Long returns an argument of type int64_t, uint64_t or size_t.
func Long(v int64) Arg { return Arg{uint64(v)} }

// Float returns an argument of type float.
func Float(v float32) Arg { return Arg{uint64(math.Float32bits(v))} }

// Double returns an argument of type double.
func Double(v float64) Arg { return Arg{math.Float64bits(v)} }

// Cover returns the grid whose blocks cover width by height by 1 items.
func Cover(width, height int, block Dim) Dim {
	return Dim{ceilDiv(width, block.X), ceilDiv(height, max(block.Y, 1)), 1}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// Plus returns the argument for an address that is bytes further on.
func (a Arg) Plus(bytes int) Arg { return Arg{a.bits + uint64(bytes)} }
