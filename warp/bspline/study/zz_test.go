package study

import (
	"context"
	"testing"
	"os"
	"fmt"
	"time"

	"retime/pipeline/frame"
	"retime/warp/bspline"
)

func TestZZ(t *testing.T) {
	w := frame.Workers{}
	small := Picture(1200, 800)
	b := []byte(fmt.Sprintf("P5 1200 800 255\n"))
	for _, v := range small.Pix { b = append(b, byte(v)) }
	os.WriteFile("/tmp/bspline/pic.pgm", b, 0644)
	img := Picture(Width, Height)
	for _, o := range []bspline.Order{3, 11} {
		rows, err := Accuracy(w, img, o, Precisions())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			t.Logf("%-30s %.2e", r.Configuration, r.Errors)
		}
	}
	_ = time.Now
	r, err := Peers(context.Background(), "/usr/bin/python3", img)
	if err != nil { t.Fatal(err) }
	for _, x := range r { t.Log(x) }
	for _, o := range []bspline.Order{3,3,-1, 1,5,7,11} {
		a, err := Rotate(w, img, o)
		t.Log(a, err)
	}
	ws, _ := Weights(w)
	t.Log(ws)
}
