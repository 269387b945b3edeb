package main

import (
	"regexp"
)

// optionNames finds the options that the library's messages name.
var optionNames = regexp.MustCompile(`\b(Input|Timing|Synthesis|Output|Compute|Hooks|Options)\.[A-Z][A-Za-z]+\b`)

// flagOf is the flag that sets an option of the library.
var flagOf = map[string]string{
	"Input.Format": "input-format", "Input.Rate": "in-fps", "Input.Map": "map", "Input.Deinterlace": "deinterlace", "Input.HWDec": "hwdec",
	"Timing.Rate": "fps", "Timing.Slow": "slow", "Timing.Fit": "fit", "Timing.From": "from", "Timing.To": "to", "Timing.Curve": "curve",
	"Timing.KeepTimestamps": "keep-timestamps", "Timing.Shutter": "shutter", "Timing.Audio": "audio",
	"Synthesis.Mode": "mode", "Synthesis.Flow": "flow", "Synthesis.Preset": "preset", "Synthesis.FlowCache": "flow-cache", "Synthesis.Order": "order",
	"Synthesis.SceneThreshold": "scene-threshold", "Synthesis.Scenes": "scenes", "Synthesis.BlendBelow": "blend-below", "Synthesis.NearestBelow": "nearest-below",
	"Synthesis.Decisions": "decisions", "Synthesis.Duplicates": "duplicates", "Synthesis.Static": "static", "Synthesis.StaticMask": "static-mask",
	"Output.Format": "format", "Output.VideoCodec": "vcodec", "Output.CRF": "crf", "Output.VideoOptions": "vopt", "Output.PixelFormat": "pix-fmt",
	"Output.AudioCodec": "acodec", "Output.AudioOptions": "aopt", "Output.Overwrite": "overwrite", "Output.NoVerify": "no-verify",
	"Compute.Threads": "threads", "Compute.Backend": "backend", "Compute.Devices": "device", "Compute.FaultPolicy": "gpu-fault",
	"Hooks.ConfidenceMap": "confidence-maps",
	"Options.SmartCopy":   "smart-copy", "Options.MaxRun": "max-run", "Options.MissingFromNumbering": "missing-from-numbering",
	"Options.Every": "every", "Options.MaxFrames": "max-frames", "Options.Worst": "worst", "Options.Threads": "threads",
	"Options.Parallel": "jobs", "Options.Resume": "resume", "Options.Overwrite": "overwrite",
	"Options.From": "from", "Options.To": "to",
}

// inFlags says a message of the library in terms of flags.
func inFlags(message string) string {
	return optionNames.ReplaceAllStringFunc(message, func(name string) string {
		if flag, ok := flagOf[name]; ok {
			return "--" + flag
		}
		return name
	})
}
