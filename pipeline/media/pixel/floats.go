package pixel

import (
	"encoding/binary"
	"math"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// floats is a view of a component's floating-point samples in a picture row.
type floats struct {
	row   []byte // from the first sample on
	step  int    // bytes from one sample to the next
	half  bool   // the samples are binary16 of IEEE 754, otherwise binary32
	order binary.ByteOrder
}

// floatRow returns a view of the first n samples of component c in row y.
func floatRow(f *astiav.Frame, d *av.PixelDescription, c, y, n int) floats {
	k := d.Components[c]
	v := floats{step: k.Step, half: k.Depth == 16, order: binary.LittleEndian}
	if d.Has(av.PixelBigEndian) {
		v.order = binary.BigEndian
	}
	v.row = planeRow(f, k.Plane, y, k.Offset+(n-1)*k.Step+k.Depth/8)[k.Offset:]
	return v
}

// at returns the bits of sample x as a float32.
func (v floats) at(x int) uint32 {
	if v.half {
		return math.Float32bits(frame.HalfValue(v.order.Uint16(v.row[x*v.step:])))
	}
	return v.order.Uint32(v.row[x*v.step:])
}

// set sets sample x to f, which is finite, not negative and less than 65504.
func (v floats) set(x int, f float32) {
	if v.half {
		v.order.PutUint16(v.row[x*v.step:], frame.HalfBits(f))
	} else {
		v.order.PutUint32(v.row[x*v.step:], math.Float32bits(f))
	}
}

// readFloats is readRow for floating point. Without a table it maps 0 to 1 evenly to 0 to
// 65535.
func readFloats(row []uint16, f *astiav.Frame, d *av.PixelDescription, c, y int, table *signals) {
	view := floatRow(f, d, c, y, len(row))
	for x := range row {
		word := view.at(x)
		if table != nil {
			row[x] = table.nearest(word)
			continue
		}
		switch v := math.Float32frombits(word); {
		case v >= 1:
			row[x] = 65535
		case v > 0:
			row[x] = uint16(float32(v*65535) + 0.5)
		default: // NaN too
			row[x] = 0
		}
	}
}

// writeFloats is the inverse of readFloats.
func writeFloats(row []uint16, f *astiav.Frame, d *av.PixelDescription, c, y int, table *signals) {
	view := floatRow(f, d, c, y, len(row))
	for x, s := range row {
		v := float32(s) / 65535
		if table != nil {
			v = table.value[s]
		}
		view.set(x, v)
	}
}
