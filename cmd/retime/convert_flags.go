package main

import (
	"math/big"
	"strconv"

	"github.com/spf13/pflag"

	"retime/cmd/internal/values"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/pipeline/vectors"
)

// ConvertOptions holds the options of the library and those that the program adds.
type ConvertOptions struct {
	pipeline.Options
	files
	display
	resume        bool
	dryRun        bool
	segmentLength *big.Rat // in seconds
}

// files holds the names of files beside input and output.
type files struct {
	curve, scenes, staticMask, decisions string // files to read
	writeScenes, sidecar, confidenceMaps string // files to write
	vectors                              flowFiles
}

// display selects the messages of a run.
type display struct {
	progress       string
	quiet, verbose bool
	noWarn         bool
}

// setDefaults sets o to the defaults of the flags.
func (o *ConvertOptions) setDefaults() {
	*o = ConvertOptions{Options: pipeline.Defaults(), display: display{progress: "auto"}, segmentLength: big.NewRat(30, 1)}
}

// AddFlags declares the flags of a conversion.
func (o *ConvertOptions) AddFlags(f *pflag.FlagSet) { o.addFlags(f, convertVerb) }

// addFlags sets o to its defaults and declares the flags that v shares with the
// conversion.
func (o *ConvertOptions) addFlags(f *pflag.FlagSet, v verb) {
	o.setDefaults()
	var shared []flag
	for _, d := range o.flags() {
		if d.verbs&v != 0 {
			shared = append(shared, d)
		}
	}
	declare(f, shared)
	for _, d := range shared {
		f.Lookup(d.name).Hidden = d.hidden&v != 0
	}
}

// flags defines the flags of the conversion, whose values write into o.
func (o *ConvertOptions) flags() []flag {
	in, t, s, out, c, fs := &o.Input, &o.Timing, &o.Synthesis, &o.Output, &o.Compute, &o.files
	return []flag{
		{name: "output", short: "o", arg: "FILE", usage: "output; - for standard output", heading: commonHeading, option: "Output.File",
			role: roleFiles, verbs: conversions | restoreVerb | joinVerb, use: outputFile, path: &out.File, Value: word(&out.File)},
		{name: "fps", arg: "RATE", usage: "frame rate: 60, 59.94, 24000/1001, 2x, ntsc, pal, film (default the source's)\n" +
			"59.94 is 60000/1001, ntsc 30000/1001, pal 25 and film 24 frames per second.", heading: commonHeading,
			option: "Timing.Rate", verbs: conversions, Value: optional(&t.Rate, parseRate)},
		{name: "slow", arg: "N", usage: "slow motion: 4 or 4x for four times slower; 25% of the speed is the same", heading: commonHeading, option: "Timing.Slow", verbs: conversions,
			Value: optional(&t.Slow, parseSlow)},
		{name: "speed", arg: "N", usage: "fast motion: speed up N times", heading: commonHeading, option: "Timing.Slow", verbs: conversions,
			Value: optional(&t.Slow, timeline.ParseSpeed)},
		{name: "fit", arg: "TIME", usage: "slow down or speed up to this length", heading: timeHeading, option: "Timing.Fit", verbs: conversions,
			Value: optional(&t.Fit, timeline.ParseTime)},
		{name: "curve", arg: "FILE", usage: "time remapping by keyframes: speed ramps, freeze frames, reverse\n" +
			"docs/time.md has the format.", heading: timeHeading,
			option: "Timing.Curve", verbs: conversions, use: readsFile, path: &fs.curve, Value: word(&fs.curve)},
		{name: "keep-timestamps", usage: "keep a variable frame rate: the source's frames at their times, scaled\n" +
			"Without it, every output frame is as long as the others.", heading: timeHeading,
			option: "Timing.KeepTimestamps", verbs: conversions, hidden: planVerb, Value: boolean(&t.KeepTimestamps)},
		{name: "shutter", arg: "ANGLE", usage: "motion blur of a shutter with this opening angle, such as 180\n" +
			"0 to 360 degrees.", heading: timeHeading,
			option: "Timing.Shutter", verbs: conversions, Value: optional(&t.Shutter, timeline.ParseShutter)},
		{name: "shutter-phase", arg: "ANGLE", usage: "angle after the frame's time at which the shutter opens (default half open before)\n" +
			"-360 to 360 degrees: with --shutter 180, -90 is the default, 0 opens at the frame's time and -180 closes then.", heading: timeHeading,
			option: "Timing.ShutterPhase", verbs: conversions, Value: optional(&t.ShutterPhase, timeline.ParseShutterPhase)},
		{name: "shutter-samples", arg: "N", usage: "moments of which a frame is the mean: 2 to 256, auto", heading: timeHeading,
			option: "Timing.ShutterSamples", verbs: conversions, Value: parsed(&t.ShutterSamples, "auto", parseSamples)},
		{name: "light", arg: "WHAT", usage: "what shutters and cross-fades average: linear (light), coded (samples)\n" +
			"By default, light for shutters, and for cross-fades of OpenEXR. The input states the curve between them; if it states none, RGB counts as sRGB and YUV as BT.1886.", heading: timeHeading,
			option: "Timing.Light", verbs: conversions, values: []string{"linear", "coded"}, Value: word(&t.Light)},
		{name: "audio", arg: "HOW", usage: "sound at another speed: stretch (at its pitch), keep, drop", heading: timeHeading, option: "Timing.Audio",
			verbs: conversions, values: []string{"stretch", "keep", "drop"}, Value: word(&t.Audio)},
		{name: "from", arg: "TIME", usage: "trim: begin here; seconds, mm:ss.frac or hh:mm:ss.frac", heading: commonHeading, option: "Timing.From",
			verbs: conversions | evaluateVerb | flowVerb, Value: optional(&t.From, timeline.ParseTime)},
		{name: "to", arg: "TIME", usage: "trim: end before this time", heading: commonHeading, option: "Timing.To", verbs: conversions | evaluateVerb | flowVerb,
			Value: optional(&t.To, timeline.ParseTime)},
		{name: "mode", arg: "MODE", usage: "project (follows motion), splat, blend (cross-fade), nearest\n" +
			"project samples both source frames along the motion; splat moves the colours themselves; nearest repeats frames.", heading: methodHeading,
			option: "Synthesis.Mode", role: roleMethod, verbs: conversions | restoreVerb, values: []string{"project", "splat", "blend", "nearest"}, Value: word(&s.Mode)},
		{name: "flow", arg: "METHOD", usage: "optical flow: dis, opencv-dis, farneback, files=NAME, command=LINE\n" +
			"dis is retime's own, opencv-dis and farneback are OpenCV's. files=DIR/%05d.flo reads flow, command=LINE asks a program of yours for it (docs/flow.md).", heading: methodHeading, option: "Synthesis.Flow", role: roleMethod,
			verbs: conversions | restoreVerb | debugVerb | flowVerb, values: []string{"dis", "opencv-dis", "farneback"}, use: readsFile,
			files: func() []string { return flowRead(s.Flow) }, Value: word(&s.Flow)},
		{name: "flow-cache", arg: "DIR", usage: "cache optical flow in this directory, which processes can share\n" +
			"docs/clusters.md explains how machines share it.", heading: machineHeading, option: "Synthesis.FlowCache",
			role: roleFiles, verbs: conversions | restoreVerb | workVerb | flowVerb, use: keepsFiles, path: &s.FlowCache, Value: word(&s.FlowCache)},
		{name: "preset", arg: "PRESET", usage: "speed against quality: fast, balanced, best", heading: commonHeading, option: "Synthesis.Preset", role: roleMethod,
			verbs: conversions | restoreVerb | debugVerb | flowVerb, values: []string{"fast", "balanced", "best"}, Value: word(&s.Preset)},
		{name: "order", arg: "N", usage: "B-spline order of the sampling: 0 (nearest), 1 (linear), 3 (cubic)", heading: methodHeading, option: "Synthesis.Order",
			role: roleMethod, verbs: conversions | restoreVerb | debugVerb, values: []string{"0", "1", "3"}, Value: pointed(&s.Order, parseInt)},
		{name: "kernel", arg: "KERNEL", usage: "sampling: bspline (of --order), zp (7 coefficients)", heading: methodHeading, option: "Synthesis.Kernel",
			role: roleMethod, verbs: conversions | restoreVerb | debugVerb, values: []string{"bspline", "zp"}, Value: word(&s.Kernel)},
		{name: "duplicates", arg: "HOW", usage: "repeated frames, as in anime on twos: keep (the default), retime (smooth)\n" +
			"With --tune animation, retime is the default.", heading: methodHeading,
			option: "Synthesis.Duplicates", role: roleMethod, verbs: conversions, values: []string{"keep", "retime"}, Value: word(&s.Duplicates)},
		{name: "tune", arg: "WHAT", usage: "what the pictures are: animation, with repeats, hard edges and counters\n" +
			"Repeated frames are retimed, except in restorations. Digits of counters and burnt-in time codes stay whole, and nothing is cross-faded: the nearer source frame shows such places (docs/method.md).", heading: methodHeading,
			option: "Input.Tune", role: roleMethod, verbs: conversions | restoreVerb, values: []string{"animation"}, Value: word(&in.Tune)},
		{name: "scene-threshold", arg: "X", usage: "score that counts as a scene cut, 0 to 1; above 1 for none\n" +
			"At a cut, retime shows the nearer source frame instead of making one.", heading: methodHeading,
			option: "Synthesis.SceneThreshold", role: roleMethod, verbs: conversions | restoreVerb, Value: pointed(&s.SceneThreshold, parseFloat)},
		{name: "scenes", arg: "LIST", usage: "read scene cuts from this file, one time per line", heading: methodHeading, option: "Synthesis.Scenes",
			role: roleMethod, verbs: conversions | restoreVerb, use: readsFile, path: &fs.scenes, Value: word(&fs.scenes)},
		{name: "write-scenes", arg: "LIST", usage: "write the times of the scene cuts", heading: reportHeading, verbs: conversions,
			hidden: planVerb, use: writesFile, path: &fs.writeScenes, Value: word(&fs.writeScenes)},
		{name: "static", arg: "HOW", usage: "logos and burnt-in text: auto (found and kept still), off\n" +
			"Overlays stay put while the picture moves.", heading: methodHeading, option: "Synthesis.Static",
			role: roleMethod, verbs: conversions | restoreVerb | debugVerb, values: []string{"auto", "off"}, Value: word(&s.Static)},
		{name: "static-mask", arg: "FILE", usage: "hold still the pixels that are white in this picture\n" +
			"The picture must be as large as the video.", heading: methodHeading, option: "Synthesis.StaticMask",
			role: roleMethod, verbs: conversions | restoreVerb | debugVerb, use: readsFile, path: &fs.staticMask, Value: word(&fs.staticMask)},
		{name: "matte", arg: "FILE", usage: "foreground that moves on its own: a picture, sequence or video, white on black\n" +
			"It has the size and the times of the video; a picture counts for all frames. Made frames show the foreground over the background (docs/method.md).", heading: methodHeading, option: "Synthesis.Matte",
			role: roleMethod, verbs: conversions | restoreVerb, use: readsFile, path: &s.Matte, Value: word(&s.Matte)},
		{name: "sidecar", arg: "FILE", usage: "write how each frame was made, one JSON object per line\n" +
			"Each object holds sources, phase, method, holes, error, cut score, confidence and the worst place.", heading: reportHeading, option: "Hooks.Record",
			verbs: conversions, hidden: planVerb, use: writesFile, path: &fs.sidecar, Value: word(&fs.sidecar)},
		{name: "decisions", arg: "FILE", usage: "obey a sidecar that you edited: methods, cuts, presets, shutters, regions\n" +
			`A line may change a frame's "method" (interpolated, blend, nearest, or source for the earlier source frame), the "cut" around it, its "preset" and "shutter", and "regions" made in other ways. Lines that you leave alone change nothing (docs/review.md).`, heading: methodHeading, option: "Synthesis.Decisions",
			verbs: conversions, use: readsFile, path: &fs.decisions, Value: word(&fs.decisions)},
		{name: "blend-below", arg: "X", usage: "cross-fade frames below this confidence in their motion, 0 to 1\n" +
			"Only the parts of a frame whose motion retime does not trust are cross-faded.", heading: methodHeading, option: "Synthesis.BlendBelow",
			role: roleMethod, verbs: conversions | restoreVerb, Value: pointed(&s.BlendBelow, parseFloat)},
		{name: "nearest-below", arg: "X", usage: "show the nearer source frame below this confidence", heading: methodHeading, option: "Synthesis.NearestBelow",
			role: roleMethod, verbs: conversions | restoreVerb, Value: pointed(&s.NearestBelow, parseFloat)},
		{name: "confidence-maps", arg: "DIR", usage: "write the confidence of each pixel, one PNG per made frame\n" +
			"8 bits, white for full trust, at the resolution of the guides (docs/method.md).", heading: reportHeading, option: "Hooks.ConfidenceMap",
			verbs: conversions, hidden: planVerb, use: writesFile, path: &fs.confidenceMaps,
			files: func() []string { return below(fs.confidenceMaps, mapPattern) }, Value: word(&fs.confidenceMaps)},
		{name: "write-flow", arg: "NAME", usage: "write optical flow of the source: flow/%05d.flo, or flow.####.exr for compositors\n" +
			"It is that along which frames are made, both ways, at full size. docs/compositing.md says what the files hold; --flow files= reads .flo.", heading: reportHeading,
			option: "Hooks.Vectors", verbs: conversions, hidden: planVerb, use: writesFile, path: &fs.vectors.File, files: func() []string { return fs.vectors.Files() }, Value: word(&fs.vectors.File)},
		{name: "flow-format", arg: "WORDS", usage: "vectors in EXR: half or float, pixels or normalised=SPAN (default float,pixels)\n" +
			"normalised writes 0.5 for no motion, and 1 for SPAN pixels.", heading: reportHeading,
			verbs: conversions | flowVerb, hidden: planVerb, Value: parsed(&fs.vectors.Format, "", vectors.ParseFormat)},
		{name: "write-confidence", usage: "with the flow, write how far each vector can be trusted and what is occluded", heading: reportHeading,
			verbs: conversions | flowVerb, hidden: planVerb, Value: boolean(&fs.vectors.Confidence)},
		{name: "deinterlace", arg: "HOW", usage: "interlaced input: field (a picture of each), frame, off (as it is)\n" +
			"retime refuses interlaced input unless this flag or --inverse-telecine is given. field makes 59.94 frames a second from 29.97.", heading: inputHeading,
			option: "Input.Deinterlace", role: roleMethod, verbs: conversions | restoreVerb | evaluateVerb | debugVerb | flowVerb, bare: string(pipeline.EachField), values: []string{"field", "frame", "off"}, Value: word(&in.Deinterlace)},
		{name: "inverse-telecine", usage: "recover film frames from 3:2 pulldown", heading: inputHeading, option: "Input.Deinterlace", role: roleMethod,
			verbs: conversions | evaluateVerb | debugVerb | flowVerb, Value: choose(&in.Deinterlace, pipeline.InverseTelecine)},
		{name: "no-autorotate", usage: "never rotate pictures upright when the output cannot store rotation", heading: inputHeading, option: "Input.Rotation",
			verbs: conversions | restoreVerb, Value: choose(&in.Rotation, pipeline.KeepRotation)},
		{name: "hwdec", arg: "DEVICE", usage: "decode on none (the processor), auto, cuda, vaapi\n" +
			"auto takes the first of cuda and vaapi that answers. 4:2:0 pictures that cuda decodes stay on the GPU if it makes the frames.", heading: inputHeading, option: "Input.HWDec", role: roleMethod,
			verbs: conversions, values: []string{"none", "auto", "cuda", "vaapi"}, Value: word(&in.HWDec)},
		{name: "in-fps", arg: "RATE", usage: "frame rate of pictures (default 25) and of raw streams (default theirs)", heading: inputHeading, option: "Input.Rate",
			verbs: conversions | restoreVerb | evaluateVerb | debugVerb | flowVerb, Value: optional(&in.Rate, parseInputRate)},
		{name: "map", arg: "SPEC", usage: "streams as ffmpeg chooses them: 0:v:1, -0:s; repeatable (default all)", heading: inputHeading, option: "Input.Map",
			verbs: conversions | restoreVerb | flowVerb, Value: texts(&in.Map)},
		{name: "vcodec", arg: "NAME", usage: "video encoder (default what suits source and container, mostly libx264)\n" +
			"GPUs have encoders of their own: h264_nvenc, hevc_vaapi, vp9_qsv. docs/encoding.md lists the defaults.", heading: outputHeading, option: "Output.VideoCodec",
			verbs: conversions | restoreVerb, Value: word(&out.VideoCodec)},
		{name: "crf", arg: "N", usage: "constant rate factor: lower is better and larger (default 16 for libx264)", heading: commonHeading, option: "Output.CRF",
			verbs: conversions | restoreVerb, Value: pointed(&out.CRF, parseInt)},
		{name: "start-number", arg: "N", usage: "number of the first picture: -o frames/%05d.png (default the input's, or 1)", heading: outputHeading, option: "Output.StartNumber",
			verbs: conversions, Value: pointed(&out.StartNumber, parseInt)},
		{name: "channel", arg: "PATTERN=HOW", usage: "channels of OpenEXR in made frames: N=mix, 'mask.*=nearest'; repeatable\n" +
			"Names tell which are mixed and which come from the nearer frame (docs/compositing.md); * stands for any text, and the last rule for a channel counts.", heading: outputHeading, option: "Output.Channels", role: roleEXR,
			verbs: convertVerb | batchVerb | restoreVerb | reviewVerb, Value: texts(&out.Channels)},
		{name: "vopt", arg: "KEY=VALUE", usage: "option of the video encoder, such as preset=slow; repeatable", heading: outputHeading, option: "Output.VideoOptions",
			verbs: conversions | restoreVerb, Value: &pairs{&out.VideoOptions, "--vopt"}},
		{name: "acodec", arg: "NAME", usage: "sound encoder (default copy, or if it cannot be copied, its own codec)\n" +
			"It applies to all sound.", heading: outputHeading, option: "Output.AudioCodec",
			verbs: conversions | restoreVerb, Value: word(&out.AudioCodec)},
		{name: "aopt", arg: "KEY=VALUE", usage: "option of the sound encoder, such as b=192k; repeatable", heading: outputHeading, option: "Output.AudioOptions",
			verbs: conversions | restoreVerb, Value: &pairs{&out.AudioOptions, "--aopt"}},
		{name: "pix-fmt", arg: "NAME", usage: "pixel format, such as yuv420p10le (default the source's)", heading: outputHeading, option: "Output.PixelFormat",
			verbs: conversions | restoreVerb, Value: word(&out.PixelFormat)},
		{name: "format", short: "f", arg: "NAME", usage: "container (default from the file's name, nut for -)", heading: outputHeading, option: "Output.Format",
			verbs: conversions | restoreVerb | joinVerb, Value: word(&out.Format)},
		{name: "mux", arg: "KEY=VALUE", usage: "option of the container, such as movflags=+faststart (the default); repeatable\n" +
			"Flags that begin with + or - change the default's.", heading: outputHeading,
			option: "Output.MuxOptions", verbs: conversions | restoreVerb, Value: &pairs{&out.MuxOptions, "--mux"}},
		{name: "input-format", arg: "NAME", usage: "container of the input (default probed)", heading: inputHeading, option: "Input.Format",
			verbs: conversions | restoreVerb | evaluateVerb | debugVerb | flowVerb, Value: word(&in.Format)},
		{name: "threads", arg: "N", usage: "worker threads (default all processors)", heading: machineHeading, option: "Compute.Threads", role: roleMachine,
			verbs: conversions | restoreVerb | evaluateVerb | debugVerb | workVerb | flowVerb, Value: integer(&c.Threads)},
		{name: "backend", arg: "WHAT", usage: "where frames are made: auto (a GPU if not slower), cpu, cuda", heading: machineHeading, option: "Compute.Backend", role: roleMachine,
			verbs: conversions | restoreVerb | workVerb | flowVerb, values: []string{"auto", "cpu", "cuda"}, Value: word(&c.Backend)},
		{name: "device", arg: "NUMBERS", usage: "CUDA devices to use, such as 0,1 (default 0)", heading: machineHeading, option: "Compute.Devices", role: roleMachine,
			verbs: conversions | restoreVerb | workVerb | flowVerb, Value: parsed(&c.Devices, "0", values.Devices)},
		{name: "device-memory", arg: "SIZE", usage: "memory to use on a GPU, beside the driver's: 600M, 1.5G (default what is free)", heading: machineHeading, option: "Compute.DeviceMemory", role: roleMachine,
			verbs: conversions | restoreVerb | workVerb | flowVerb, Value: parsed(&c.DeviceMemory, "", values.Memory)},
		{name: "gpu-fault", arg: "HOW", usage: "when a GPU fails: cpu (make the frame there), fail", heading: machineHeading, option: "Compute.FaultPolicy", role: roleMachine,
			verbs: conversions | restoreVerb | workVerb | flowVerb, values: []string{"cpu", "fail"}, Value: word(&c.FaultPolicy)},
		{name: "confine", arg: "DIR", usage: "do not read or write outside DIR, for job files and plans you do not trust\n" +
			"docs/security.md lists what this protects.", heading: machineHeading,
			option: "Compute.Confine", role: roleProgram, verbs: conversions | workVerb | joinVerb, Value: word(&c.Confine)},
		{name: "progress", arg: "HOW", usage: "progress display: auto, bar, json, none\n" +
			"json prints one object per line on standard error, also for each warning; for a conversion, the last one reports the result: output, frames, shot, made, held, cuts, warnings, seconds, exit, error.", heading: displayHeading, role: roleProgram,
			verbs: ^verb(0) &^ debugVerb, values: []string{"auto", "bar", "json", "none"}, Value: word(&o.progress)},
		{name: "no-verify", usage: "do not reread the output to check its frames, times and sound", heading: outputHeading, option: "Output.NoVerify", role: roleFiles,
			verbs: conversions | restoreVerb, hidden: planVerb, Value: boolean(&out.NoVerify)},
		{name: "resume", usage: "keep finished parts in .OUTPUT.resume, and resume from there after a kill", heading: resumeHeading, role: roleProgram,
			verbs: conversions, hidden: planVerb | reviewVerb, Value: boolean(&o.resume)},
		{name: "segment-seconds", arg: "TIME", usage: "length of these parts", heading: resumeHeading, option: "Options.Length", role: roleProgram,
			verbs: convertVerb | planVerb | reviewVerb, Value: parsed(&o.segmentLength, "30", parseSegmentLength)},
		{name: "dry-run", usage: "write nothing; report what would be written, its rough size and the time it takes\n" +
			"It makes ten frames of the output in a temporary directory to estimate size and time.", heading: displayHeading, role: roleProgram,
			verbs: convertVerb | planVerb | batchVerb | joinVerb | debugVerb, Value: boolean(&o.dryRun)},
		{name: "overwrite", short: "y", usage: "overwrite the output and the files next to it", heading: commonHeading, option: "Output.Overwrite", role: roleProgram,
			verbs: ^verb(0) &^ workVerb, Value: boolean(&out.Overwrite)},
		{name: "quiet", short: "q", usage: "print only errors and warnings", heading: displayHeading, role: roleProgram,
			verbs: ^verb(0), Value: boolean(&o.quiet)},
		{name: "no-warn", usage: "print no warnings", heading: displayHeading, role: roleProgram, verbs: ^verb(0), Value: boolean(&o.noWarn)},
		{name: "verbose", short: "v", usage: "print details, such as the times of the stages", heading: displayHeading, role: roleProgram, verbs: ^verb(0), Value: boolean(&o.verbose)},
	}
}

// flowRead returns the pattern of the files that a method reads flow from, if it does.
func flowRead(m pipeline.FlowMethod) []string {
	if pattern, ok := m.Files(); ok {
		return []string{pattern}
	}
	return nil
}

// parseSamples reads how many moments a frame is the mean of; 0 for auto.
func parseSamples(text string) (int, error) {
	if text == "auto" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > timeline.MaxSamples {
		return 0, fault.New(fault.Usage, "--shutter-samples %q: want from 2 to %d, or auto", text, timeline.MaxSamples)
	}
	return n, nil
}

// parseInputRate reads the rate of an input without timestamps.
func parseInputRate(text string) (*big.Rat, error) {
	r, err := timeline.ParseRate(text)
	if err != nil || r.Multiple {
		return nil, fault.New(fault.Usage, "--in-fps %q: want frames per second as 24 or 24000/1001, from 1/%d to %d", text, timeline.MaxPeriod, timeline.MaxRate)
	}
	return r.Value, nil
}

func parseSegmentLength(text string) (*big.Rat, error) {
	length, err := timeline.ParseTime(text)
	if err != nil {
		return nil, fault.New(fault.Usage, "--segment-seconds: %w", err)
	}
	if length.Sign() == 0 {
		return nil, fault.New(fault.Usage, "--segment-seconds %s: must be positive", length.FloatString(3))
	}
	return length, nil
}
