package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/segment"
	"retime/pipeline/timeline"
	"retime/warp"
)

// ConvertOptions are the flags of the conversion, as given.
type ConvertOptions struct {
	output, format, inputFormat string
	fps, from, to               string
	slow, speed, fit, audio     string
	curve, shutter              string
	mode, flow, preset, backend string
	device, gpuFault, flowCache string
	order, crf, threads         int
	vcodec, pixelFormat         string
	acodec                      string
	vopts, aopts                []string
	duplicates                  string
	sceneThreshold              float64
	scenes, writeScenes         string
	static, staticMask          string
	sidecar, decisions          string
	confidenceMaps              string
	blendBelow, nearestBelow    float64
	deinterlace                 string
	inverseTelecine             bool
	maps                        []string
	inFPS, hwdec                string
	keepTimestamps, overwrite   bool
	noVerify                    bool
	resume                      bool
	segmentSeconds              string
	progress                    string
	quiet, verbose              bool
}

// AddFlags declares the flags.
func (o *ConvertOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.output, "output", "o", "", "output `FILE`, - for standard output")
	f.StringVar(&o.fps, "fps", "", "output `RATE`: 60, 59.94, 60000/1001, or 2x (default the source's)")
	f.StringVar(&o.slow, "slow", "", "make it `N` times longer")
	f.StringVar(&o.speed, "speed", "", "play it `N` times as fast")
	f.StringVar(&o.fit, "fit", "", "slow down or speed up to last `TIME`")
	f.StringVar(&o.curve, "curve", "", "change speed along the keyframes in `FILE`: docs/time.md")
	f.BoolVar(&o.keepTimestamps, "keep-timestamps", false, "keep the times of the source's frames, scaled: variable rate in, variable rate out")
	f.StringVar(&o.shutter, "shutter", "", "motion blur of a shutter open for `ANGLE` of 360 degrees of a frame")
	f.StringVar(&o.audio, "audio", "stretch", "sound where the time changes: stretch it at its pitch, keep it as it is, drop it")
	f.StringVar(&o.from, "from", "", "begin at `TIME`: seconds, mm:ss.frac or hh:mm:ss.frac")
	f.StringVar(&o.to, "to", "", "end before `TIME`")
	f.StringVar(&o.mode, "mode", "project", "how frames are made: project, splat, blend, nearest")
	f.StringVar(&o.flow, "flow", "dis", "optical flow: dis, farneback")
	f.StringVar(&o.flowCache, "flow-cache", "", "keep optical flow in `DIR`, and read what is there")
	f.StringVar(&o.preset, "preset", "balanced", "cost against quality: fast, balanced, best")
	f.IntVar(&o.order, "order", 3, "B-spline order of the sampling: 0, 1, 3")
	f.StringVar(&o.duplicates, "duplicates", "keep", "repeated frames: keep them, or retime so that motion runs through them")
	f.Float64Var(&o.sceneThreshold, "scene-threshold", pipeline.DefaultSceneThreshold, "score from 0 to 1 that makes a scene cut; above 1 for never")
	f.StringVar(&o.scenes, "scenes", "", "read the times of scene cuts from `LIST`, one a line")
	f.StringVar(&o.writeScenes, "write-scenes", "", "write the times of scene cuts to `LIST`")
	f.StringVar(&o.static, "static", "auto", "overlays that lie still over the moving picture: auto to find and keep them still, off")
	f.StringVar(&o.staticMask, "static-mask", "", "keep still what is white in the picture `FILE`")
	f.StringVar(&o.sidecar, "sidecar", "", "write how each frame came about to `FILE`, a JSON object a line")
	f.StringVar(&o.decisions, "decisions", "", "obey the methods and cuts in an edited sidecar `FILE`")
	f.Float64Var(&o.blendBelow, "blend-below", pipeline.DefaultBlendBelow, "confidence below which a frame is cross-faded where motion fails")
	f.Float64Var(&o.nearestBelow, "nearest-below", pipeline.DefaultNearestBelow, "confidence below which the nearer source frame is shown")
	f.StringVar(&o.confidenceMaps, "confidence-maps", "", "write how far each pixel can be trusted as PNG files into `DIR`")
	f.StringVar(&o.deinterlace, "deinterlace", "", "interlaced input: a picture of each `field` (the default value), of each frame, or off to take it as it is")
	f.Lookup("deinterlace").NoOptDefVal = string(pipeline.EachField)
	f.BoolVar(&o.inverseTelecine, "inverse-telecine", false, "find the frames of film in 3:2 pulldown")
	f.StringVar(&o.hwdec, "hwdec", "none", "what decodes: none (the processor), auto, cuda, vaapi")
	f.StringVar(&o.inFPS, "in-fps", "", "`RATE` of input without timestamps, such as frames/%05d.png (default 25)")
	f.StringArrayVar(&o.maps, "map", nil, "choose streams as ffmpeg does: `[-]0[:STREAMS][?]`; may be repeated (default all)")
	f.StringVar(&o.vcodec, "vcodec", "", "encoder `NAME` (default libx264, or what suits the container)")
	f.IntVar(&o.crf, "crf", -1, "constant rate factor (default 16 for libx264)")
	f.StringArrayVar(&o.vopts, "vopt", nil, "encoder option `KEY=VALUE`; may be repeated")
	f.StringVar(&o.acodec, "acodec", "", "encoder `NAME` for all sound (default copied, or where it cannot be, its own codec)")
	f.StringArrayVar(&o.aopts, "aopt", nil, "option `KEY=VALUE` of the sound's encoder; may be repeated")
	f.StringVar(&o.pixelFormat, "pix-fmt", "", "sample format `NAME` (default the source's)")
	f.StringVarP(&o.format, "format", "f", "", "output container `NAME` (default from the file name, nut for -)")
	f.StringVar(&o.inputFormat, "input-format", "", "input container `NAME` (default probed)")
	f.IntVar(&o.threads, "threads", 0, "worker threads (default all processors)")
	f.StringVar(&o.backend, "backend", "auto", "where frames are made: auto, cpu, cuda")
	f.StringVar(&o.device, "device", "0", "CUDA devices to use, as `NUMBERS`: 0,1")
	f.StringVar(&o.gpuFault, "gpu-fault", "cpu", "a frame that a device fails to make: on the cpu again, or fail")
	f.StringVar(&o.progress, "progress", "auto", "progress display: auto, bar, json, none")
	f.BoolVar(&o.noVerify, "no-verify", false, "do not check the file that was written")
	f.BoolVar(&o.resume, "resume", false, "keep what is made in .OUTPUT.resume, and go on there after a kill")
	f.StringVar(&o.segmentSeconds, "segment-seconds", "30", "length of the parts that are kept, as `TIME`")
	f.BoolVarP(&o.overwrite, "overwrite", "y", false, "overwrite the output")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only errors")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "details")
}

func newRootCommand() *cobra.Command {
	var o ConvertOptions
	cmd := &cobra.Command{
		Use:   "retime INPUT -o OUTPUT [--fps RATE] [--slow N]",
		Short: "Change the time of a video: make the frames that were never shot",
		Long: `retime converts a clip to another frame rate or slows it down. The frames that
the camera never shot are made from their neighbours along the optical flow;
frames that were shot are passed through untouched.`,
		Example: `  retime in.mp4 -o out.mp4 --fps 60
  retime in.mp4 -o slow.mp4 --slow 4 --from 10 --to 12.5`,
		Version:       version(),
		Args:          convertArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runConvert(cmd.Context(), o, args[0], cmd.Flags().Changed("crf"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fault.New(fault.Usage, "%w; see retime --help", err)
	})
	cmd.SetHelpTemplate(cmd.HelpTemplate() + exitCodes)
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddCommand(newBatchCommand())
	cmd.AddCommand(newRestoreCommand(), newResampleCommand(), newEvaluateCommand(), newDebugCommand(), newInfoCommand(),
		newPlanCommand(), newSegmentCommand(), newStatusCommand(), newVerifyCommand(), newJoinCommand())
	return cmd
}

const exitCodes = `
Exit codes:
  0 done, 1 internal error, 2 usage, 65 bad data, 66 no input,
  73 cannot write, 75 try again, 76 output fails its check,
  130 cancelled
`

func convertArgs(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return fault.New(fault.Usage, "no input; retime INPUT -o OUTPUT --fps RATE, or see retime --help")
	case 1:
		return nil
	}
	return fault.New(fault.Usage, "one input at a time, not %q; see retime --help", args)
}

// options translates the flags.
func (o *ConvertOptions) options(input string, crfGiven bool) (pipeline.Options, error) {
	p := pipeline.Options{
		Input:     pipeline.Input{File: input, Format: o.inputFormat},
		Output:    pipeline.Output{File: o.output, Format: o.format, VideoCodec: o.vcodec, PixelFormat: o.pixelFormat, AudioCodec: o.acodec, NoVerify: o.noVerify, Overwrite: o.overwrite},
		Synthesis: pipeline.Synthesis{Mode: warp.Mode(o.mode), Flow: pipeline.FlowMethod(o.flow), Preset: pipeline.Preset(o.preset), Order: &o.order, Duplicates: pipeline.Duplicates(o.duplicates), SceneThreshold: &o.sceneThreshold, Static: pipeline.Static(o.static), BlendBelow: &o.blendBelow, NearestBelow: &o.nearestBelow, FlowCache: o.flowCache},
		Timing:    pipeline.Timing{KeepTimestamps: o.keepTimestamps, Audio: media.Audio(o.audio)},
		Compute:   pipeline.Compute{Threads: o.threads, Backend: pipeline.Backend(o.backend), FaultPolicy: pipeline.FaultPolicy(o.gpuFault)},
	}
	if o.inFPS != "" {
		r, err := timeline.ParseRate(o.inFPS)
		if err != nil || r.Multiple {
			return p, fault.New(fault.Usage, "--in-fps %q: want frames per second as 24 or 24000/1001", o.inFPS)
		}
		p.Input.Rate = r.Value
	}
	p.Input.HWDec = media.HWDec(o.hwdec)
	p.Input.Map, p.Input.Deinterlace = o.maps, pipeline.Deinterlace(o.deinterlace)
	if o.inverseTelecine {
		if o.deinterlace != "" {
			return p, fault.New(fault.Usage, "--deinterlace and --inverse-telecine exclude each other")
		}
		p.Input.Deinterlace = pipeline.InverseTelecine
	}
	if crfGiven {
		p.Output.CRF = &o.crf
	}
	var err error
	if p.Compute.Devices, err = parseDevices(o.device); err != nil {
		return p, err
	}
	if o.fps != "" {
		if p.Timing.Rate, err = timeline.ParseRate(o.fps); err != nil {
			return p, err
		}
	}
	if o.slow != "" && o.speed != "" {
		return p, fault.New(fault.Usage, "--slow and --speed exclude each other")
	}
	if o.slow != "" {
		if p.Timing.Slow, err = timeline.ParseSlow(o.slow); err != nil {
			return p, err
		}
	}
	if o.speed != "" {
		if p.Timing.Slow, err = timeline.ParseSpeed(o.speed); err != nil {
			return p, err
		}
	}
	for _, t := range []struct {
		text string
		to   **big.Rat
	}{{o.from, &p.Timing.From}, {o.to, &p.Timing.To}, {o.fit, &p.Timing.Fit}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = timeline.ParseTime(t.text); err != nil {
			return p, err
		}
	}
	if o.shutter != "" {
		if p.Timing.Shutter, err = timeline.ParseShutter(o.shutter); err != nil {
			return p, err
		}
	}
	if o.curve != "" {
		if p.Timing.Curve, err = readCurve(o.curve); err != nil {
			return p, err
		}
	}
	if o.scenes != "" {
		if p.Synthesis.Scenes, err = readScenes(o.scenes); err != nil {
			return p, err
		}
	}
	if o.decisions != "" {
		if p.Synthesis.Decisions, err = readList("--decisions", o.decisions, pipeline.ReadDecisions); err != nil {
			return p, err
		}
	}
	if o.staticMask != "" {
		if p.Synthesis.StaticMask, err = readMask("--static-mask", o.staticMask); err != nil {
			return p, err
		}
	}
	if p.Output.VideoOptions, err = parseEncoderOptions("--vopt", o.vopts); err != nil {
		return p, err
	}
	if p.Output.AudioOptions, err = parseEncoderOptions("--aopt", o.aopts); err != nil {
		return p, err
	}
	return p, nil
}

// parseEncoderOptions reads what a flag was given.
func parseEncoderOptions(flag string, list []string) (map[string]string, error) {
	options := map[string]string{}
	for _, v := range list {
		key, value, ok := strings.Cut(v, "=")
		if !ok || key == "" {
			return nil, fault.New(fault.Usage, "%s %q: want key=value", flag, v)
		}
		options[key] = value
	}
	return options, nil
}

func runConvert(ctx context.Context, o ConvertOptions, input string, crfGiven bool, stdout, stderr io.Writer) error {
	if o.resume {
		if err := o.checkParts(); err != nil {
			return err
		}
	}
	p, err := o.options(input, crfGiven)
	if err != nil {
		return err
	}
	whyCPU, err := chooseProgram(p.Compute.Backend)
	if err != nil {
		return err
	}
	p.Hooks.Log = slog.New(newLogHandler(stderr, o.logLevel()))
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	p.Hooks.Progress = progress.update
	report, err := o.convert(ctx, p)
	progress.done()
	if report != nil && !o.quiet {
		out := stdout
		if o.output == "-" {
			out = stderr
		}
		summarise(out, report, whyCPU)
	}
	return err
}

// run converts in one go or in parts that are kept.
func (o *ConvertOptions) run(ctx context.Context, p pipeline.Options) (*pipeline.Report, error) {
	if !o.resume {
		return pipeline.Run(ctx, p)
	}
	length, err := o.segmentLength()
	if err != nil {
		return nil, err
	}
	return segment.Convert(ctx, p, length, version())
}

// convert runs p and writes the files that o asks for beside the output.
func (o *ConvertOptions) convert(ctx context.Context, p pipeline.Options) (*pipeline.Report, error) {
	sidecar, err := newSidecar("--sidecar", o.sidecar)
	if err != nil {
		return nil, err
	}
	p.Hooks.Record = sidecar.record
	maps, err := newConfidenceMaps(o.confidenceMaps, p.Output.Overwrite)
	if err != nil {
		_ = sidecar.close(false)
		return nil, err
	}
	if maps != nil {
		p.Hooks.ConfidenceMap = maps.write
	}
	report, err := o.run(ctx, p)
	if e := sidecar.close(report != nil); err == nil {
		err = e
	}
	if err == nil && o.writeScenes != "" {
		err = writeScenes(o.writeScenes, report.Cuts)
	}
	return report, err
}

func (o *ConvertOptions) logLevel() slog.Level {
	switch {
	case o.quiet:
		return slog.LevelError
	case o.verbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// summarise prints what was made and where the time went.
func summarise(w io.Writer, r *pipeline.Report, whyCPU string) {
	rate, _ := r.Rate.Float64()
	fmt.Fprintf(w, "%s: %dx%d %s, %s fps (%.3f), %d frames, %d of them made from %d, %s\n",
		r.Output, r.Width, r.Height, r.Format, r.Rate.RatString(), rate, r.Frames, r.Made, r.Sources, where(r, whyCPU))
	if len(r.Cuts) > 0 || r.Repeats > 0 {
		fmt.Fprintf(w, "%d scene cuts, %d repeated frames retimed\n", len(r.Cuts), r.Repeats)
	}
	if info, err := os.Stat(r.Output); err == nil && info.Mode().IsRegular() {
		fmt.Fprintf(w, "size %.2f MB, ", float64(info.Size())/1e6)
	}
	s := r.Stages
	load := ""
	if r.Backend == pipeline.CUDA {
		load = ", upload " + brief(s.Load)
	}
	fmt.Fprintf(w, "%s: decode %s, flow %s%s, synthesis %s, encode %s (overlapping)\n",
		brief(r.Elapsed), brief(s.Decode), brief(s.Flow), load, brief(s.Synthesis), brief(s.Encode))
}

// where says what made the frames, and why it was the CPU where a device was
// looked for.
func where(r *pipeline.Report, whyCPU string) string {
	switch {
	case r.Backend == pipeline.CUDA && r.Remade > 0:
		return fmt.Sprintf("on %s, %d of them on the CPU after faults", strings.Join(r.Devices, " and "), r.Remade)
	case r.Backend == pipeline.CUDA:
		return "on " + strings.Join(r.Devices, " and ")
	case whyCPU != "":
		return "on the CPU: " + whyCPU
	}
	return "on the CPU"
}

func brief(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
