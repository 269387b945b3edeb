package restore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/restore"
	"retime/testdata/scene"
)

// writeClip writes a clip of 16 frames, of which one is black.
func writeClip(name string, black int) error {
	const width, height = 160, 96
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(f, "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n", width, height)
	for k := range 16 {
		p := scene.Draw(width, height, float64(k)/24)
		if k == black {
			for i := range p.Y {
				p.Y[i] = 16
			}
		}
		fmt.Fprintf(f, "FRAME\n%s%s%s", p.Y, p.U, p.V)
	}
	return f.Close()
}

// Frame 7 is known to be damaged. Run makes it again from its neighbours and leaves all other
// frames unchanged.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	input := filepath.Join(dir, "damaged.y4m")
	if err := writeClip(input, 7); err != nil {
		log.Fatal(err)
	}

	damage, err := restore.ParseFrames("7")
	if err != nil {
		log.Fatal(err)
	}
	report, err := restore.Run(context.Background(), restore.Options{
		Convert: pipeline.Options{
			Input:  pipeline.Input{File: input},
			Output: pipeline.Output{File: filepath.Join(dir, "restored.mkv"), VideoCodec: "ffv1"},
		},
		Damage: damage,
		Log: func(e restore.Entry) {
			fmt.Printf("frame %d: made from frames %v\n", e.Frame, e.Neighbours)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d frames made\n", report.Made, report.Frames)
	// Output:
	// frame 7: made from frames [6 8]
	// 1 of 16 frames made
}

// A dry run looks for damage and writes nothing. WriteList writes the findings as text, for
// people to edit and ParseList to read.
func ExampleRun_detect() {
	dir, err := os.MkdirTemp("", "retime")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	input := filepath.Join(dir, "damaged.y4m")
	if err := writeClip(input, 7); err != nil {
		log.Fatal(err)
	}

	report, err := restore.Run(context.Background(), restore.Options{
		Convert: pipeline.Options{
			Input:  pipeline.Input{File: input},
			Output: pipeline.Output{File: filepath.Join(dir, "restored.mkv")},
		},
		Detect: true,
		DryRun: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Printf("frame %s at %.3f s: %s\n", f.First, f.Time, f.Kind)
	}
	// Output: frame 7 at 0.292 s: black
}
