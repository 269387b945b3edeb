package subtitle_test

import (
	"fmt"

	"retime/pipeline/media/subtitle"
)

// An event of Advanced SubStation Alpha becomes an entry of SubRip and a cue of WebVTT.
// Neither has the fonts of its style, nor the fading.
func Example() {
	script := subtitle.NewScript("", true)
	cue, lost := script.Parse(`0,0,Default,,0,0,0,,{\an8\i1}Meanwhile{\i0}, far away{\fad(200,200)}`)
	fmt.Println(cue.SubRip())

	text, settings, more := cue.WebVTT()
	fmt.Printf("%s (%s)\n", text, settings)
	fmt.Println("lost:", lost|more)
	// Output:
	// {\an8}<i>Meanwhile</i>, far away
	// <i>Meanwhile</i>, far away (line:0)
	// lost: fonts, effects
}
