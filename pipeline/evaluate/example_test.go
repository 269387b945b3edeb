package evaluate_test

import (
	"context"
	"fmt"
	"log"

	"retime/pipeline"
	"retime/pipeline/evaluate"
)

// The evaluation leaves out every second frame at the beginning of the clip and makes it again, by
// optical flow and, for comparison, by a cross-fade.
func ExampleRun() {
	report, err := evaluate.Run(context.Background(), evaluate.Options{
		Input: pipeline.Input{File: "../../testdata/demo.mp4"},
		Part:  evaluate.Part{MaxFrames: 7},
		Settings: []evaluate.Setting{
			{Name: "fast", Convert: pipeline.Options{Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}}},
		},
		Peers: []evaluate.Peer{{Name: "cross-fade", Method: evaluate.Blend}},
		NoVIF: true,
		// Dir: "report" would write report.html and report.json.
	})
	if err != nil {
		log.Fatal(err)
	}
	flow, fade := report.Methods[0], report.Methods[1]
	fmt.Printf("%d of %d frames held out\n", len(report.Frames), report.Clip.Frames)
	fmt.Printf("%s is better than %s: %t\n", flow.Name, fade.Name, flow.Total.PSNRY > fade.Total.PSNRY)
	// Output:
	// 3 of 7 frames held out
	// fast is better than cross-fade: true
}
