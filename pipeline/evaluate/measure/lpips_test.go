package measure

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// numpy encodes an array as NumPy does.
func numpy(shape []int, values []float32) []byte {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }", list)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)+1), 0)
	b, _ = binary.Append(append(append(b, header...), '\n'), binary.LittleEndian, values)
	return b
}

// What is wrong with an array is said in words.
func TestReadNPYSaysWhatItHas(t *testing.T) {
	text := bytes.Replace(numpy([]int{2, 3}, nil), []byte("<f4"), []byte("<f8"), 1)
	const want = `have type "<f8" in C order, shape [2 3]: want type "<f4" (32-bit floats) in C order`
	if _, err := readNPY(bytes.NewReader(text), 6); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// network writes the weights of a network with few channels, and returns them.
func network(t *testing.T, r *rand.Rand) (file string, arrays map[string]array) {
	file = filepath.Join(t.TempDir(), "weights.npz")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	arrays = map[string]array{}
	add := func(name string, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = r.Float32() - 0.4
		}
		arrays[name] = array{shape, values}
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = w.Write(numpy(shape, values))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	channels := []int{3, 5, 6, 4, 3, 2}
	for i, side := range []int{11, 5, 3, 3, 3} {
		add(fmt.Sprint("w", i), side, side, channels[i], channels[i+1])
		add(fmt.Sprint("b", i), channels[i+1])
		add(fmt.Sprint("l", i), channels[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, arrays
}

// picture is a picture's features by channel, then row, then column.
type picture [][][]float64

// convolved computes a layer as the paper's authors define it: a rectified convolution.
func (p picture) convolved(w, b array, stride, edge int) (out picture) {
	side, channels := w.shape[0], w.shape[3]
	height, width := (len(p[0])+2*edge-side)/stride+1, (len(p[0][0])+2*edge-side)/stride+1
	for c := range channels {
		rows := make([][]float64, height)
		for y := range rows {
			rows[y] = make([]float64, width)
			for x := range width {
				sum := float64(b.values[c])
				for k := range p {
					for j := range side {
						for i := range side {
							py, px := y*stride+j-edge, x*stride+i-edge
							if py >= 0 && px >= 0 && py < len(p[k]) && px < len(p[k][0]) {
								sum += p[k][py][px] * float64(w.values[((j*side+i)*len(p)+k)*channels+c])
							}
						}
					}
				}
				rows[y][x] = max(sum, 0)
			}
		}
		out = append(out, rows)
	}
	return out
}

func (p picture) pooled() (out picture) {
	for _, rows := range p {
		var small [][]float64
		for y := 0; y+3 <= len(rows); y += 2 {
			var row []float64
			for x := 0; x+3 <= len(rows[0]); x += 2 {
				most := 0.0
				for j := range 3 {
					for i := range 3 {
						most = max(most, rows[y+j][x+i])
					}
				}
				row = append(row, most)
			}
			small = append(small, row)
		}
		out = append(out, small)
	}
	return out
}

func naiveLPIPS(arrays map[string]array, a, b *frame.Frame) (sum float64) {
	input := func(f *frame.Frame) (p picture) {
		for c, plane := range []int{2, 0, 1} {
			rows := make([][]float64, f.Height)
			for y := range rows {
				for _, v := range frame.Samples[uint8](f.Planes[plane]).Row(y) {
					x := float64(v)/127.5 - 1
					rows[y] = append(rows[y], (x-[]float64{-.030, -.088, -.188}[c])/[]float64{.458, .448, .450}[c])
				}
			}
			p = append(p, rows)
		}
		return p
	}
	p, q := input(a), input(b)
	for i, l := range []struct{ stride, edge int }{{4, 2}, {1, 2}, {1, 1}, {1, 1}, {1, 1}} {
		w, bias, counts := arrays[fmt.Sprint("w", i)], arrays[fmt.Sprint("b", i)], arrays[fmt.Sprint("l", i)]
		p, q = p.convolved(w, bias, l.stride, l.edge), q.convolved(w, bias, l.stride, l.edge)
		for y := range p[0] {
			for x := range p[0][y] {
				var u, v float64
				for c := range p {
					u, v = u+p[c][y][x]*p[c][y][x], v+q[c][y][x]*q[c][y][x]
				}
				for c := range p {
					d := p[c][y][x]/(math.Sqrt(u)+1e-10) - q[c][y][x]/(math.Sqrt(v)+1e-10)
					sum += d * d * float64(counts.values[c]) / float64(len(p[0])*len(p[0][0]))
				}
			}
		}
		if i < 2 {
			p, q = p.pooled(), q.pooled()
		}
	}
	return sum
}

// LPIPS equals its definition, up to the rounding of 32-bit floats.
func TestLPIPS(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	file, arrays := network(t, r)
	format := frame.Format{Name: "gbrp", Depth: 8, Planes: 3, RGB: true}
	for _, size := range [][2]int{{31, 31}, {47, 33}, {64, 51}} {
		var pair [2]*frame.Frame
		for i := range pair {
			pair[i] = frame.New(format, size[0], size[1])
			for _, p := range pair[i].Planes {
				for y := range p.Height {
					for x := range p.Width {
						frame.Samples[uint8](p).Row(y)[x] = uint8(r.IntN(256))
					}
				}
			}
		}
		v := media.Video{Format: format, Width: size[0], Height: size[1], TimeBase: big.NewRat(1, 25)}
		l, err := newLPIPS(v, file, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.measure(frame.Workers{N: 2}, pair[0], pair[1])
		if want := naiveLPIPS(arrays, pair[0], pair[1]); err != nil || math.Abs(got-want) > 1e-4*math.Abs(want) {
			t.Errorf("%v: %v, %v, want %v", size, got, err, want)
		}
		if got, err = l.measure(frame.Workers{N: 2}, pair[0], pair[0]); got != 0 || err != nil {
			t.Errorf("%v: equal pictures differ by %v, %v", size, got, err)
		}
		l.close()
	}
	if _, err := newLPIPS(media.Video{Format: format, Width: 30, Height: 40}, file, 1); err == nil {
		t.Error("a picture of 30 by 40 is not too small")
	}
}

func FuzzReadNPY(f *testing.F) {
	f.Add(numpy([]int{2, 3}, make([]float32, 6)))
	f.Add(numpy([]int{1 << 20, 1 << 20}, nil))
	f.Add([]byte("\x93NUMPY\x02\x00\x04\x00\x00\x00{   "))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := readNPY(bytes.NewReader(data), mostNumbers)
		n := 1
		for _, d := range a.shape {
			n *= d
		}
		if err == nil && n != len(a.values) {
			t.Errorf("shape %v of %d values", a.shape, len(a.values))
		}
	})
}

// A weights file may contain anything. Only the requested arrays are read, and no more numbers than
// the limit.
func FuzzNPZ(f *testing.F) {
	pack := func(names []string, data []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(data)
			}
			if err != nil {
				f.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	whole := numpy([]int{2, 3}, make([]float32, 6))
	f.Add(pack([]string{"w0.npy", "other.npy", "w0.npy"}, whole))
	f.Add(pack([]string{"w0.npy"}, whole[:len(whole)-1]))
	f.Add(pack([]string{"w0.npy", "b0.npy"}, numpy([]int{1 << 20, 1 << 20}, nil)))
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "weights.npz")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		arrays, err := readNPZ(file, []string{"w0", "b0"})
		if err != nil {
			if fault.KindOf(err) != fault.BadData {
				t.Errorf("%v is of kind %d", err, fault.KindOf(err))
			}
			return
		}
		numbers := 0
		for name, a := range arrays {
			if name != "w0" && name != "b0" {
				t.Errorf("%s was read", name)
			}
			numbers += len(a.values)
		}
		if numbers > mostNumbers {
			t.Errorf("%d numbers", numbers)
		}
	})
}
