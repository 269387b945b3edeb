package splines

import (
	"context"
	"math"
	"os/exec"
	"testing"
	"time"

	"retime/frame"
	"retime/warp/bspline"
)

// Errors stay below the target until the least precise type reaches its limit.
func TestAccuracyTables(t *testing.T) {
	img := Picture(420, 400)
	for _, test := range []struct {
		order         bspline.Order
		single, exact float64
	}{
		{3, 1e-6, 1e-14},
		{11, 4e-5, 1e-12},
	} {
		rows, err := Accuracy(frame.Workers{}, img, test.order, Precisions())
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 5 {
			t.Fatalf("%d rows, want 5", len(rows))
		}
		for i, row := range rows {
			floor := test.single
			if i == len(rows)-1 {
				floor = test.exact
			}
			for j, precision := range Precisions() {
				if row.Errors[j] > precision+floor {
					t.Errorf("order %v, %s: error %g at %g", test.order, row.Configuration, row.Errors[j], precision)
				}
			}
			last := row.Errors[len(row.Errors)-1]
			if single := i < len(rows)-1; single && last < 1e-8 || !single && last > test.exact {
				t.Errorf("order %v, %s: settles at %g", test.order, row.Configuration, last)
			}
		}
	}
}

func TestRotationsGainWithTheOrder(t *testing.T) {
	img := Picture(300, 260)
	var last float64
	for _, order := range []bspline.Order{bspline.Nearest, bspline.Linear, bspline.Cubic, 5, 9} {
		r, err := Rotate(frame.Workers{}, img, order)
		if err != nil {
			t.Fatal(err)
		}
		if r.PSNR <= last || r.Time <= 0 {
			t.Errorf("%+v after %v dB", r, last)
		}
		last = r.PSNR
	}
}

func TestTimingAddsUp(t *testing.T) {
	for order := bspline.Order(0); order <= 11; order++ {
		for name, measure := range map[string]func(frame.Workers, frame.Image[float64], bspline.Order, int) (Timing, error){"float32": Time[float32], "float64": Time[float64]} {
			r, err := measure(frame.Workers{N: 1}, Picture(96, 64), order, 1)
			if err != nil {
				t.Fatal(err)
			}
			if r.Order != order || r.Type != name || r.Width != 96 || r.Height != 64 || r.Workers != 1 {
				t.Errorf("order %v, %s: it is of %+v", order, name, r)
			}
			if r.Prefilter < 0 || r.Evaluation <= 0 || r.Scattered <= 0 || r.Total() != r.Prefilter+r.Evaluation {
				t.Errorf("order %v, %s: %+v", order, name, r)
			}
		}
	}
}

func TestScaling(t *testing.T) {
	rows, err := Threads(5, Picture(64, 48), 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var workers []int
	for _, r := range rows {
		workers = append(workers, r.Workers)
	}
	if len(workers) != 3 || workers[0] != 1 || workers[2] != 4 {
		t.Errorf("workers %v, want 1, 2 and 4", workers)
	}
	rows, err = Areas(frame.Workers{}, 64, 48, 3, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0].Width != 16 || rows[2].Height != 48 {
		t.Errorf("%+v", rows)
	}
}

func TestPictureIsWhole(t *testing.T) {
	levels := map[float64]bool{}
	for i, v := range Picture(1000, 700).Pix {
		if v < 0 || v > 255 || v != math.Trunc(v) {
			t.Fatalf("sample %d is %v", i, v)
		}
		levels[v] = true
	}
	if len(levels) < 200 {
		t.Errorf("%d levels", len(levels))
	}
}

func TestPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds to start Python")
	}
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import scipy").Run() != nil {
		t.Skip("no Python with SciPy at " + python)
	}
	img := Picture(500, 420)
	rows, err := Peers(context.Background(), python, img)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := Rotate(frame.Workers{}, img, bspline.Cubic)
	if err != nil {
		t.Fatal(err)
	}
	// SciPy computes in double precision, so its figures differ a little.
	if len(rows) < 2 || math.Abs(rows[0].PSNR-ours.PSNR) > 0.01 || rows[0].Time <= 0 || rows[0].Time > time.Minute {
		t.Errorf("%+v, want about %+v first", rows, ours)
	}
}

func TestPeersWithoutPython(t *testing.T) {
	if _, err := Peers(context.Background(), "/nonexistent/python", Picture(8, 8)); err == nil {
		t.Error("no error")
	}
}
