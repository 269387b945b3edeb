package timeline_test

import (
	"fmt"
	"log"
	"strings"

	"retime/pipeline/timeline"
)

// Rates are exact: 59.94 stands for the NTSC rate that it rounds.
func ExampleParseRate() {
	for _, text := range []string{"60", "59.94", "24000/1001", "2x"} {
		rate, err := timeline.ParseRate(text)
		if err != nil {
			log.Fatal(err)
		}
		if rate.Multiple {
			fmt.Println(text, "is", rate.Value.RatString(), "times the source's rate")
		} else {
			fmt.Println(text, "is", rate.Value.RatString(), "frames per second")
		}
	}
	// Output:
	// 60 is 60 frames per second
	// 59.94 is 60000/1001 frames per second
	// 24000/1001 is 24000/1001 frames per second
	// 2x is 2 times the source's rate
}

func ExampleParseTime() {
	for _, text := range []string{"12.5", "1:02.75", "1:00:00"} {
		t, err := timeline.ParseTime(text)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(text, "is", t.FloatString(2), "s")
	}
	_, err := timeline.ParseTime("0:75")
	fmt.Println(err)
	// Output:
	// 12.5 is 12.50 s
	// 1:02.75 is 62.75 s
	// 1:00:00 is 3600.00 s
	// time "0:75": want seconds, mm:ss.frac or hh:mm:ss.frac
}

func ExampleParseKeyframes() {
	keys, err := timeline.ParseKeyframes(strings.NewReader(`
source  speed
0       100%
2.5     10%    smooth  # slow down to the goal
end     100%
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range keys {
		moment := "the end"
		if k.Source != nil {
			moment = k.Source.FloatString(1) + " s"
		}
		fmt.Printf("at %s speed %s, then %s\n", moment, k.Speed.RatString(), k.Shape)
	}
	// Output:
	// at 0.0 s speed 1, then linear
	// at 2.5 s speed 1/10, then smooth
	// at the end speed 1, then linear
}
