package review

import (
	"math/big"
	"strings"

	"retime/cmd/internal/review/edits"
	"retime/internal/shell"
)

// files returns the names of the files that hold what a state decides.
func (c *session) files(s edits.State) []string {
	list := []string{}
	if s.Decided() > 0 {
		list = append(list, c.clip.Files.Decisions)
	}
	if s.Mask.Width > 0 {
		list = append(list, c.clip.Files.Mask)
	}
	if s.Curve != "" {
		list = append(list, c.clip.Files.Curve)
	}
	return list
}

// command returns the command line that makes the same frames.
func (c *session) command(s edits.State) string {
	o := &c.clip.Conversion
	words := []string{"retime", o.Input.File, "-o", o.Output.File}
	decided := map[string]bool{"preset": s.Preset != "", "shutter": s.Shutter != "", "slow": s.Curve != "", "speed": s.Curve != "", "decisions": true, "static-mask": true, "curve": true, "segment-seconds": true, "resume": true, "overwrite": true}
	for _, f := range c.clip.Flags {
		if !decided[f.Name] {
			words = append(words, f.word())
		}
	}
	if s.Preset != "" {
		words = append(words, "--preset", string(s.Preset))
	}
	if s.Shutter != "" {
		words = append(words, "--shutter", s.Shutter)
	}
	if s.Decided() > 0 {
		words = append(words, "--decisions", c.clip.Files.Decisions)
	}
	if s.Mask.Width > 0 {
		words = append(words, "--static-mask", c.clip.Files.Mask)
	}
	if s.Curve != "" {
		words = append(words, "--curve", c.clip.Files.Curve)
	}
	if c.inParts() {
		words = append(words, "--resume", "--segment-seconds", seconds(c.server.options.Segment))
	}
	words = append(words, "-y")
	return shell.Join(words)
}

// inParts reports whether the clip is rendered in segments, as all are but those of a curve that
// does not play on from the start.
func (c *session) inParts() bool { return !c.maker.Plan().Reopens() }

// seconds writes a time as a flag takes it.
func seconds(t *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(t.FloatString(9), "0"), ".")
}
