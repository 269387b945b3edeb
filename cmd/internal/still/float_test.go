package still

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"retime/internal/npy"
	"retime/pipeline/fault"
)

// numpy returns an .npy file of version 1.0.
func numpy(header string, samples any) []byte {
	b := []byte(npy.Magic + "\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	var order binary.ByteOrder = binary.LittleEndian
	if strings.Contains(header, "'>") {
		order = binary.BigEndian
	}
	b, err := binary.Append(b, order, samples)
	if err != nil {
		panic(err)
	}
	return b
}

func TestNPY(t *testing.T) {
	f4, f8 := []float32{1, -2.5, 3, 4, 5, 1e30}, []float64{1, -2.5, 3, 4, 5, 1e300}
	version2 := bytes.Replace(numpy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", f4), []byte("\x01\x00<\x00"), []byte("\x02\x00<\x00\x00\x00"), 1)
	for _, c := range []struct {
		name string
		data []byte
		last float64
	}{
		{"float32", numpy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n", f4), float64(f4[5])},
		{"float64", numpy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", f8), 1e300},
		{"big-endian", numpy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", f4), float64(f4[5])},
		{"big-endian float64", numpy("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }\n", f8), 1e300},
		{"in another order and style", numpy(`{"shape":(2L,3),"fortran_order":False,"descr":"<f4"}`, f4), float64(f4[5])},
		{"version 2", version2, float64(f4[5])},
	} {
		p, err := Decode(bytes.NewReader(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		pix := p.Channels[0].Pix
		if w, h := p.Size(); w != 3 || h != 2 || pix[1] != -2.5 || pix[5] != c.last || p.Max != 0 {
			t.Errorf("%s: %v, %v", c.name, p, pix)
		}
	}
}

func TestBadNPY(t *testing.T) {
	samples := []float32{1, 2, 3, 4, 5, 6}
	for _, c := range []struct{ header, want string }{
		{"", `want "{"`},
		{"{}", "want descr"},
		{"{'descr': '<f4', 'shape': (2, 3)}", "want descr"},
		{"{'descr': '<f4', 'descr': '<f4', 'shape': (2, 3)}", "twice"},
		{"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran"},
		{"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "True or False"},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", "float32 or float64"},
		{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", "string"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "1 dimensions"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "0 dimensions"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3)}", "3 dimensions"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", "3x0"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}", "whole number"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 99999999999)}", "2^31"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 100000)}", "limit"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}", "6 of 9"},
		{"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "3 of 6"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x", "follows"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "unknown"},
		{"{'descr': '<f4", "string"},
		{"{'descr' '<f4'", `":"`},
	} {
		p, err := Decode(bytes.NewReader(numpy(c.header, samples)))
		if err == nil || fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error about %s", c.header, p, err, c.want)
		}
	}
	for _, data := range []string{npy.Magic + "\x04\x00\x00\x00", npy.Magic + "\x00\x00\x00\x00", npy.Magic + "\x02\x00\xff\xff\xff\xff{}", npy.Magic + "\x01\x00\x05\x00{}"} {
		if _, err := Decode(strings.NewReader(data)); fault.KindOf(err) != fault.BadData {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func TestPFM(t *testing.T) {
	raster := func(order binary.AppendByteOrder, v ...float32) (s string) {
		for _, f := range v {
			s += string(order.AppendUint32(nil, math.Float32bits(f)))
		}
		return s
	}
	little, big := binary.LittleEndian, binary.BigEndian
	for _, c := range []struct {
		name, data string
		want       [][]float64
		header     string
	}{
		{"gray", "Pf\n2 2\n-1.0\n" + raster(little, 3, 4, 1, 2), [][]float64{{1, 2, 3, 4}}, "Pf\n2 2\n-1.0\n"},
		{"big-endian, in other units", "Pf 1 2 2.5 " + raster(big, 2, 1), [][]float64{{1, 2}}, "Pf\n1 2\n-2.5\n"},
		{"colour", "PF\n1 2\n-2e0\n" + raster(little, 4, 5, 6, 1, 2, 3), [][]float64{{1, 4}, {2, 5}, {3, 6}}, "PF\n1 2\n-2.0\n"},
	} {
		p, err := Decode(strings.NewReader(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, want := range c.want {
			for j, v := range want {
				if p.Channels[i].Pix[j] != v {
					t.Errorf("%s: channel %d is %v, want %v", c.name, i, p.Channels[i].Pix, want)
					break
				}
			}
		}
		if got := encode(t, ".pfm", p); !bytes.HasPrefix(got, []byte(c.header)) {
			t.Errorf("%s: written as %q, want %q", c.name, got, c.header)
		}
	}
	for data, want := range map[string]string{
		"Pf":                        "width",
		"Pf 1":                      "height",
		"Pf 1 1":                    "scale",
		"Pf 1 1 x abcd":             "scale",
		"Pf 1 1 0 abcd":             "scale 0",
		"Pf 1 1 NaN abcd":           "scale NaN",
		"Pf 1 1 -1":                 "unexpected EOF",
		"Pf 1 1 -1\nabc":            "0 of 1",
		"PF 1 1 -1\nabcdefgh":       "2 of 3",
		"Pf 99999 99999 -1\nabcdef": "limit",
	} {
		if _, err := Decode(strings.NewReader(data)); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error about %s", data, err, want)
		}
	}
}

// FuzzFloat is FuzzPNM for .npy and PFM.
func FuzzFloat(f *testing.F) {
	f.Add(numpy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", []float32{1, 2}))
	f.Add(numpy("{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2), }\n", []float64{1, 2}))
	f.Add(numpy(`{"shape":(1L,1),"fortran_order":False,"descr":"<f4"}`, []float32{1}))
	f.Add([]byte(npy.Magic + "\x02\x00\x02\x00\x00\x00{}"))
	f.Add([]byte("Pf\n1 1\n-1.0\nabcd"))
	f.Add([]byte("PF 1 1 2 abcdefghijkl"))
	f.Fuzz(func(t *testing.T, data []byte) { reread(t, data, npy.Magic, "Pf", "PF") })
}
