package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ball writes a volume of distances from its middle.
func ball(t *testing.T, name string, n int) {
	t.Helper()
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }", n, n, n)
	b := bytes.NewBufferString("\x93NUMPY\x01\x00")
	for len(header)%16 != 5 {
		header += " "
	}
	header += "\n"
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	middle := float64(n-1) / 2
	for z := range n {
		for y := range n {
			for x := range n {
				d := math.Hypot(math.Hypot(float64(x)-middle, float64(y)-middle), float64(z)-middle)
				b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(d))))
			}
		}
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every case of a cube has closed loops, and a case and its complement cross the same edges.
func TestLoopsCrossAllEdges(t *testing.T) {
	for inside := range 256 {
		crossed := 0
		for corner := range 8 {
			for bit := range 3 {
				if other := corner ^ 1<<bit; corner < other && inside>>corner&1 != inside>>other&1 {
					crossed++
				}
			}
		}
		n := 0
		for _, l := range loops(inside) {
			if len(l) < 3 {
				t.Errorf("case %d: a loop of %d edges", inside, len(l))
			}
			n += len(l)
		}
		if n != crossed {
			t.Errorf("case %d: loops of %d edges, want %d", inside, n, crossed)
		}
	}
}

// The surface of a ball is closed, oriented, and as large as a sphere.
func TestBall(t *testing.T) {
	dir := t.TempDir()
	in, obj, picture := filepath.Join(dir, "in.npy"), filepath.Join(dir, "out.obj"), filepath.Join(dir, "out.png")
	ball(t, in, 18)
	for _, element := range []string{"trilinear", "tricubic", "seven", "bcc-quintic", "fcc-cubic"} {
		e := options{element: element, obj: obj, png: picture, iso: 5, step: 0.7, size: 64}
		var out bytes.Buffer
		if err := run(e, in, &out); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(picture)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Error(err)
		}
		f.Close()
		vertices, triangles := readOBJ(t, obj)
		sides := map[[2]int]int{}
		area := 0.0
		for _, c := range triangles {
			for k := range c {
				sides[[2]int{c[k], c[(k+1)%3]}]++
			}
			n := vertices[c[1]].sub(vertices[c[0]]).cross(vertices[c[2]].sub(vertices[c[0]]))
			area += math.Sqrt(n[0]*n[0]+n[1]*n[1]+n[2]*n[2]) / 2
		}
		for s, n := range sides {
			if n != 1 || sides[[2]int{s[1], s[0]}] != 1 {
				t.Fatalf("%s: side %v occurs %d times, reversed %d times", element, s, n, sides[[2]int{s[1], s[0]}])
			}
		}
		if want := 4 * math.Pi * 25; math.Abs(area/want-1) > 0.03 {
			t.Errorf("%s: an area of %v, want about %v", element, area, want)
		}
	}
}

// The generic sum finds the same surface.
func TestGeneric(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.npy")
	ball(t, in, 8)
	var a, b bytes.Buffer
	for _, c := range []struct {
		generic bool
		out     *bytes.Buffer
	}{{false, &a}, {true, &b}} {
		name := filepath.Join(t.TempDir(), "out.obj")
		if err := run(options{element: "trilinear", obj: name, iso: 2, step: 0.9, size: 8, generic: c.generic}, in, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c.out.Write(text)
	}
	if a.Len() == 0 || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the surfaces differ")
	}
}

func TestReadNPYRejects(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in.npy")
	for _, text := range []string{"", "\x93NUMPY\x01\x00\xff\xff{", "\x93NUMPY\x01\x00\x05\x00{'a'}",
		"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (9, 9, 9), }        \n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readNPY(name); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// What is wrong with an array is said in words.
func TestReadNPYSaysWhatItHas(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in.npy")
	header := "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }  "
	if err := os.WriteFile(name, []byte("\x93NUMPY\x01\x00"+string(byte(len(header)))+"\x00"+header), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `have type "<f8" in Fortran order, shape [2 3]: want a three-dimensional array in C order`
	if _, err := readNPY(name); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func readOBJ(t *testing.T, name string) (vertices []vec, triangles [][3]int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		var v vec
		var c [3]int
		if n, _ := fmt.Sscanf(string(line), "v %g %g %g", &v[0], &v[1], &v[2]); n == 3 {
			vertices = append(vertices, v)
		} else if n, _ := fmt.Sscanf(string(line), "f %d %d %d", &c[0], &c[1], &c[2]); n == 3 {
			triangles = append(triangles, [3]int{c[0] - 1, c[1] - 1, c[2] - 1})
		}
	}
	return vertices, triangles
}
