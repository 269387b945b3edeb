package main

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// namedRates are the frame rates that have names.
var namedRates = map[string]string{"film": "24", "ntsc": "30000/1001", "pal": "25"}

// parseRate reads a frame rate or its name.
func parseRate(text string) (timeline.Rate, error) {
	if rate, ok := namedRates[strings.ToLower(text)]; ok {
		text = rate
	}
	return timeline.ParseRate(text)
}

// parseSlow reads how many times to slow down, as 4 or 4x, or the speed that is left, as 25%.
func parseSlow(text string) (*big.Rat, error) {
	percent, ok := strings.CutSuffix(text, "%")
	if !ok {
		return timeline.ParseSlow(strings.TrimSuffix(text, "x"))
	}
	slow, err := timeline.ParseSpeed(percent)
	if err == nil {
		slow.Mul(slow, big.NewRat(100, 1))
	}
	if err != nil || slow.Cmp(big.NewRat(1, 1)) < 0 || slow.Cmp(big.NewRat(timeline.MaxSlow, 1)) > 0 {
		return nil, fault.New(fault.Usage, "slow-down %q: want a share of the speed from 0.1%% to 100%%, as 25%%", text)
	}
	return slow, nil
}

// defaultOutput names the output beside the input after its speed and rate: clip-slow4-60fps.mp4. It
// returns no name if neither is given, or the input is not a file.
func (o *ConvertOptions) defaultOutput(input string) string {
	change := ""
	if slow := o.Timing.Slow; slow != nil && slow.Cmp(big.NewRat(1, 1)) < 0 {
		change += "-speed" + short(new(big.Rat).Inv(slow))
	} else if slow != nil {
		change += "-slow" + short(slow)
	}
	switch rate := o.Timing.Rate; {
	case rate.Multiple:
		change += fmt.Sprintf("-%sx", short(rate.Value))
	case rate.Value != nil:
		change += fmt.Sprintf("-%sfps", short(rate.Value))
	}
	return nextTo(input, change)
}

// nextTo returns the name of an output next to the input: clip-restored.mp4 for the change -restored. It
// returns no name if there is no change, or the input is not a file.
func nextTo(input, change string) string {
	if info, err := os.Stat(input); change == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	ext := filepath.Ext(input)
	return strings.TrimSuffix(input, ext) + change + ext
}

// short writes a number with three decimals at most.
func short(v *big.Rat) string {
	f, _ := v.Float64()
	text := strconv.FormatFloat(f, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
