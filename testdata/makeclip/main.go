// Command makeclip writes the test scene as YUV4MPEG2 to standard output. The
// demo clip is
//
//	go run ./testdata/makeclip -size 640x360 -frames 96 |
//	  ffmpeg -i - -c:v libx264 -crf 23 -preset slower -pix_fmt yuv420p testdata/demo.mp4
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"retime/testdata/scene"
)

func main() {
	size := flag.String("size", "640x360", "picture size")
	frames := flag.Int("frames", 96, "number of frames")
	rate := flag.String("rate", "24/1", "frames per second, as a fraction")
	flag.Parse()
	var w, h, num, den int
	if _, err := fmt.Sscanf(*size, "%dx%d", &w, &h); err != nil {
		log.Fatalf("-size %q: %v", *size, err)
	}
	if _, err := fmt.Sscanf(*rate, "%d/%d", &num, &den); err != nil {
		log.Fatalf("-rate %q: %v", *rate, err)
	}
	if err := scene.WriteY4M(os.Stdout, w, h, *frames, num, den); err != nil {
		log.Fatal(err)
	}
}
