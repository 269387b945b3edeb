//go:build unix

package cuda_test

import (
	"fmt"
	"testing"
	"time"

	"retime/cuda"
	"retime/flow/dis"
)

// BenchmarkDIS reports the milliseconds of an estimate of both directions, alone or with three
// others in flight, whole or halved, with pictures and fields in device memory. It needs a GPU.
func BenchmarkDIS(b *testing.B) {
	if list, err := cuda.Devices(); err != nil || len(list) == 0 {
		b.Skip("no GPU: ", err)
	}
	d, err := cuda.Open(0)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for _, size := range [][2]int{{480, 270}, {960, 540}, {1920, 1080}, {3840, 2160}} {
		for _, c := range []struct {
			name    string
			options dis.Options
		}{{"default", dis.Default()}, {"quick", dis.Quick()}} {
			for _, lanes := range []int{0, 2, 4, 32} {
				for _, flight := range []int{1, 4} {
					threads := "auto"
					if lanes > 0 {
						threads = fmt.Sprint(lanes)
					}
					bench := func(name string, halved bool) {
						b.Run(fmt.Sprintf("%dx%d/%s/threads=%s/inflight=%d%s", size[0], size[1], c.name, threads, flight, name), func(b *testing.B) {
							// The benchmark runs on another thread than its parent.
							err := d.Do(func() error { return timeDIS(b, d, c.options, size[0], size[1], lanes, flight, halved) })
							if err != nil {
								b.Fatal(err)
							}
						})
					}
					bench("", false)
					if lanes == 0 {
						bench("/halved", true)
					}
				}
			}
		}
	}
}

// timeDIS times estimates with flight of them on streams at once.
func timeDIS(b *testing.B, d *cuda.Device, o dis.Options, width, height, lanes, flight int, halved bool) error {
	list := make([]*estimate, flight)
	for i := range list {
		e := newEstimate(b, d, o)
		defer e.close(b)
		e.SetLanes(lanes)
		x, y := shifted("", 7.3, -2.6+float64(i)).pair(0, width, height, width)
		e.upload(b, x, y)
		if halved {
			for i := range e.fields {
				if err := e.fields[i].Resize(d, (width+1)/2, (height+1)/2); err != nil {
					return err
				}
			}
		}
		list[i] = e
	}
	all := func() error {
		for _, e := range list {
			if err := e.Estimate(e.pictures[0], e.pictures[1], e.fields[0], e.fields[1], halved); err != nil {
				return err
			}
		}
		return nil
	}
	synchronize := func() error {
		for _, e := range list {
			if err := e.Stream().Synchronize(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := all(); err != nil {
		return err
	}
	if err := synchronize(); err != nil {
		return err
	}
	n := 0
	start := time.Now()
	for b.Loop() {
		if err := all(); err != nil {
			return err
		}
		// A single estimate waits for its end; several keep the device busy.
		if flight == 1 {
			if err := synchronize(); err != nil {
				return err
			}
		}
		n += flight
	}
	if err := synchronize(); err != nil {
		return err
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(time.Since(start).Seconds()*1000/float64(n), "ms/estimate")
	return nil
}
