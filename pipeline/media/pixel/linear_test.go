package pixel

import (
	"math"
	"testing"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// through converts values to signals and back.
func through(t *testing.T, values []float32) (signals []uint16, back []float32) {
	t.Helper()
	float, twin := astiav.FindPixelFormatByName("grayf32le"), astiav.FindPixelFormatByName("gray16le")
	f, err := newPicture(len(values), 1, float)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Free()
	copy(unsafe.Slice((*float32)(unsafe.Pointer(av.PlaneData(f, 0))), len(values)), values)
	there := converter{to: layout{len(values), 1, twin, 0, true}, twin: true}
	g, err := there.convert(f, layout{len(values), 1, float, 0, true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	signals = append(signals, unsafe.Slice((*uint16)(unsafe.Pointer(av.PlaneData(g, 0))), len(values))...)
	home := converter{to: layout{len(values), 1, float, 0, true}, twin: true}
	h, err := home.convert(g, layout{len(values), 1, twin, 0, true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Free()
	return signals, append(back, unsafe.Slice((*float32)(unsafe.Pointer(av.PlaneData(h, 0))), len(values))...)
}

func TestLinearSignals(t *testing.T) {
	s := linearSignals()
	// SMPTE ST 2084's signals for 0, 203 and 10000 cd/m².
	if s.value[0] != 0 || s.value[38055] != 1 || math.Abs(float64(s.value[65535])-10000./203) > 0.01 {
		t.Errorf("signals stand for %v, %v, %v", s.value[0], s.value[38055], s.value[65535])
	}
	for i := 1; i < len(s.value); i++ {
		if s.value[i] <= s.value[i-1] {
			t.Fatalf("value %d is %v after %v", i, s.value[i], s.value[i-1])
		}
	}
	// Every signal's value survives the conversion, a row at a time.
	const row = 1 << 12
	for from := 0; from < len(s.value); from += row {
		got, back := through(t, s.value[from:from+row])
		for i := range got {
			if int(got[i]) != from+i || back[i] != s.value[from+i] {
				t.Fatalf("signal %d came back as %d, %v as %v", from+i, got[i], s.value[from+i], back[i])
			}
		}
	}
}

func TestLinearIsNearest(t *testing.T) {
	s := linearSignals()
	values := []float32{-1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-30, 60, 1e9, 0.18, 0.5, 2, 8, 40}
	for v := float32(1e-4); v < 45; v *= 1.03 {
		values = append(values, v)
	}
	got, back := through(t, values)
	for i, v := range values {
		want := 0
		for j, w := range s.value { // compare with every signal
			if math.Abs(float64(w)-float64(v)) < math.Abs(float64(s.value[want])-float64(v)) {
				want = j
			}
		}
		if v > 50 {
			want = 65535
		}
		if int(got[i]) != want {
			t.Errorf("%v became signal %d, want %d", v, got[i], want)
		}
		// Half floats, the usual samples of HDR pictures, are at least 2^-11 apart.
		if d := math.Abs(float64(back[i]-v)) / float64(v); v >= 1e-3 && v < 45 && d > 1./2048 {
			t.Errorf("%v came back as %v", v, back[i])
		}
	}
}
