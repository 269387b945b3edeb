package flow

import (
	"image"
	"image/color"
	"testing"
)

func TestColorWheel(t *testing.T) {
	const m = 4 * One
	white, black := color.NRGBA{255, 255, 255, 255}, color.NRGBA{0, 0, 0, 255}
	tests := []struct {
		v    Vec
		want color.NRGBA
	}{
		{Vec{}, white},
		{Unknown, black},
		{Vec{m, 0}, color.NRGBA{255, 0, 0, 255}},
		{Vec{m / 2, 0}, color.NRGBA{255, 127, 127, 255}},
		{Vec{2 * m, 0}, color.NRGBA{191, 0, 0, 255}},
		// Half of 54 hues is the 27th, the third of eleven from cyan to blue.
		{Vec{-m, 0}, color.NRGBA{0, 209, 255, 255}},
		// A quarter of 54 hues is between the last two of fifteen from red to yellow.
		{Vec{0, m}, color.NRGBA{255, 229, 0, 255}},
		// Three quarters are between the fifth and sixth of thirteen from blue to magenta.
		{Vec{0, -m}, color.NRGBA{88, 0, 255, 255}},
	}
	f := NewField(len(tests), 1)
	for i, tt := range tests {
		f.Pix[i] = tt.v
	}
	got := ColorWheel(f, 4)
	if got.Rect != image.Rect(0, 0, len(tests), 1) {
		t.Fatalf("picture is %v", got.Rect)
	}
	for i, tt := range tests {
		// Within 1, because the arc tangent may differ between processors.
		if c := got.NRGBAAt(i, 0); !near(c, tt.want) {
			t.Errorf("%v: %v, want %v", tt.v, c, tt.want)
		}
	}
}

func near(a, b color.NRGBA) bool {
	d := func(x, y uint8) bool { return x-y+1 <= 2 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B) && a.A == b.A
}

func TestColorWheelScale(t *testing.T) {
	f := NewField(3, 2)
	f.Pix[1], f.Pix[2], f.Pix[5] = Vec{300, 0}, Unknown, Vec{-50, 0}
	if got, want := ColorWheel(f, 0), ColorWheel(f, 300./One); string(got.Pix) != string(want.Pix) {
		t.Error("without a maximum, the longest vector is not the full colour")
	}
	for _, v := range ColorWheel(NewField(3, 3), 0).Pix {
		if v != 255 {
			t.Fatal("no motion is not white")
		}
	}
	if got := ColorWheel(NewField(0, 0), 0); !got.Rect.Empty() {
		t.Errorf("picture of an empty field is %v", got.Rect)
	}
}

func TestUsualLength(t *testing.T) {
	f := NewField(10, 10)
	for i := range f.Pix {
		f.Pix[i] = Vec{X: 3 * One, Y: 4 * One}
	}
	f.Pix[17] = Vec{X: 1000 * One}
	f.Pix[18] = Unknown
	if got := f.UsualLength(); got != 5 {
		t.Errorf("usual length %f, want 5", got)
	}
	if got := NewField(4, 4).UsualLength(); got != 0.25 {
		t.Errorf("usual length %f of a still picture, want 0.25", got)
	}
	f = NewField(1, 1)
	f.Pix[0] = Unknown
	if got := f.UsualLength(); got != 1 {
		t.Errorf("usual length %f without known vectors, want 1", got)
	}
}
