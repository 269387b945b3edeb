package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/big"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// verbsOf returns root and all verbs under it.
func verbsOf(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, sub := range root.Commands() {
		all = append(all, verbsOf(sub)...)
	}
	return all
}

// conversion parses args as flags of the conversion.
func conversion(t *testing.T, args ...string) (*ConvertOptions, error) {
	t.Helper()
	var o ConvertOptions
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(flags)
	err := flags.Parse(args)
	if err == nil {
		err = checkExclusive(flags)
	}
	return &o, err
}

// Every flag sets the option that its definition names, and no other.
func TestFlagsReachTheOptions(t *testing.T) {
	rat := func(a, b int64) *big.Rat { return big.NewRat(a, b) }
	for _, c := range []struct {
		args string
		set  func(o *pipeline.Options)
	}{
		{"", func(*pipeline.Options) {}},
		{"-o x.mp4", func(o *pipeline.Options) { o.Output.File = "x.mp4" }},
		{"--fps 59.94", func(o *pipeline.Options) { o.Timing.Rate.Value = rat(60000, 1001) }},
		{"--fps 2x", func(o *pipeline.Options) { o.Timing.Rate = pipeline.Rate{Value: rat(2, 1), Multiple: true} }},
		{"--slow 5/2", func(o *pipeline.Options) { o.Timing.Slow = rat(5, 2) }},
		{"--speed 4", func(o *pipeline.Options) { o.Timing.Slow = rat(1, 4) }},
		{"--fit 1:30.5", func(o *pipeline.Options) { o.Timing.Fit = rat(181, 2) }},
		{"--from 1 --to 2.5", func(o *pipeline.Options) { o.Timing.From, o.Timing.To = rat(1, 1), rat(5, 2) }},
		{"--keep-timestamps", func(o *pipeline.Options) { o.Timing.KeepTimestamps = true }},
		{"--shutter 180", func(o *pipeline.Options) { o.Timing.Shutter = rat(1, 2) }},
		{"--audio drop", func(o *pipeline.Options) { o.Timing.Audio = "drop" }},
		{"--mode splat", func(o *pipeline.Options) { o.Synthesis.Mode = "splat" }},
		{"--flow farneback", func(o *pipeline.Options) { o.Synthesis.Flow = pipeline.Farneback }},
		{"--flow-cache d", func(o *pipeline.Options) { o.Synthesis.FlowCache = "d" }},
		{"--preset best", func(o *pipeline.Options) { o.Synthesis.Preset = pipeline.Best }},
		{"--order 0x1", func(o *pipeline.Options) { o.Synthesis.Order = new(1) }},
		{"--kernel zp", func(o *pipeline.Options) { o.Synthesis.Kernel = "zp" }},
		{"--matte m.mkv", func(o *pipeline.Options) { o.Synthesis.Matte = "m.mkv" }},
		{"--duplicates retime", func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.RetimeDuplicates }},
		{"--scene-threshold 2", func(o *pipeline.Options) { o.Synthesis.SceneThreshold = new(2.0) }},
		{"--tune animation", func(o *pipeline.Options) { o.Input.Tune = pipeline.Animation }},
		{"--static off", func(o *pipeline.Options) { o.Synthesis.Static = pipeline.StaticOff }},
		{"--blend-below 0 --nearest-below 1", func(o *pipeline.Options) { o.Synthesis.BlendBelow, o.Synthesis.NearestBelow = new(0.0), new(1.0) }},
		{"--deinterlace", func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.EachField }},
		{"--deinterlace=frame", func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.EachFrame }},
		{"--no-autorotate", func(o *pipeline.Options) { o.Input.Rotation = pipeline.KeepRotation }},
		{"--inverse-telecine", func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.InverseTelecine }},
		{"--deinterlace=off --inverse-telecine=false", func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.IgnoreFields }},
		{"--hwdec vaapi", func(o *pipeline.Options) { o.Input.HWDec = "vaapi" }},
		{"--in-fps 23.976", func(o *pipeline.Options) { o.Input.Rate = rat(24000, 1001) }},
		{"--map 0:v --map -0:s,x", func(o *pipeline.Options) { o.Input.Map = []string{"0:v", "-0:s,x"} }},
		{"--vcodec ffv1 --acodec flac", func(o *pipeline.Options) { o.Output.VideoCodec, o.Output.AudioCodec = "ffv1", "flac" }},
		{"--channel N=mix --channel m.*=nearest", func(o *pipeline.Options) { o.Output.Channels = []string{"N=mix", "m.*=nearest"} }},
		{"--crf 0", func(o *pipeline.Options) { o.Output.CRF = new(0) }},
		{"--vopt a=b=c --vopt d=", func(o *pipeline.Options) { o.Output.VideoOptions = map[string]string{"a": "b=c", "d": ""} }},
		{"--mux movflags=+faststart --mux brand=mp42", func(o *pipeline.Options) {
			o.Output.MuxOptions = map[string]string{"movflags": "+faststart", "brand": "mp42"}
		}},
		{"--aopt b=1 --aopt b=2", func(o *pipeline.Options) { o.Output.AudioOptions = map[string]string{"b": "2"} }},
		{"--pix-fmt gray -f nut", func(o *pipeline.Options) { o.Output.PixelFormat, o.Output.Format = "gray", "nut" }},
		{"--input-format mov", func(o *pipeline.Options) { o.Input.Format = "mov" }},
		{"--threads 3 --backend cpu", func(o *pipeline.Options) { o.Compute.Threads, o.Compute.Backend = 3, pipeline.CPU }},
		{"--device 2,0", func(o *pipeline.Options) { o.Compute.Devices = []int{2, 0} }},
		{"--device-memory 1.5G", func(o *pipeline.Options) { o.Compute.DeviceMemory = 3 << 29 }},
		{"--gpu-fault fail", func(o *pipeline.Options) { o.Compute.FaultPolicy = pipeline.StopAtFault }},
		{"--no-verify -y", func(o *pipeline.Options) { o.Output.NoVerify, o.Output.Overwrite = true, true }},
	} {
		plain, err := conversion(t)
		if err != nil {
			t.Fatal(err)
		}
		c.set(&plain.Options)
		o, err := conversion(t, strings.Fields(c.args)...)
		if err != nil || !reflect.DeepEqual(o.Options, plain.Options) {
			t.Errorf("%s: %v\n%+v, want\n%+v", c.args, err, o.Options, plain.Options)
		}
	}
}

// The library accepts all values that help and completion list, and no others.
func TestListedValuesAreTheLibrarys(t *testing.T) {
	all := new(ConvertOptions)
	all.setDefaults()
	for _, d := range all.flags() {
		for _, value := range d.values {
			if !strings.Contains(d.usage, value) {
				t.Errorf("--%s does not say %s: %s", d.name, value, d.usage)
			}
		}
		if d.values == nil || d.option == "" {
			continue
		}
		check := func(value string) error {
			o, err := conversion(t, "-o", "x", "--"+d.name+"="+value)
			if err != nil {
				return err
			}
			p, err := o.options("in")
			if err == nil {
				err = p.Check()
			}
			return err
		}
		for _, value := range d.values {
			if err := check(value); err != nil {
				t.Errorf("--%s %s: %v", d.name, value, err)
			}
		}
		if d.option == "Input.HWDec" { // the library checks it when it opens the input
			continue
		}
		err := check("7")
		if err == nil {
			t.Fatalf("--%s 7 is accepted", d.name)
		}
		_, listed, _ := strings.Cut(err.Error(), "choose from ")
		var known []string
		for _, v := range strings.Split(listed, ", ") {
			if v != string(pipeline.InverseTelecine) && !strings.Contains(v, "=") { // a flag of its own sets it; no single value
				known = append(known, v)
			}
		}
		want := slices.Clone(d.values)
		slices.Sort(known)
		slices.Sort(want)
		if !slices.Equal(known, want) {
			t.Errorf("--%s lists %q, the library %q", d.name, want, err)
		}
	}
}

// Every flag of every verb has a line under a heading, no longer than a terminal is
// wide.
func TestHelp(t *testing.T) {
	const wide = 112
	for _, cmd := range verbsOf(newRootCommand()) {
		if strings.HasPrefix(cmd.CommandPath(), "retime bench") {
			continue // these explain some flags in several lines
		}
		var help strings.Builder
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			line := "\n  " + synopsis(f) + " "
			if n := strings.Count(help.String(), line); f.Hidden == (n == 1) {
				t.Errorf("%s: --%s has %d lines", cmd.Name(), f.Name, n)
			}
			if d := definition(f); d != nil && !slices.Contains(headings, d.heading) {
				t.Errorf("%s: --%s stands under %q", cmd.Name(), f.Name, d.heading)
			}
		})
		for line := range strings.SplitSeq(help.String(), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "-") && len(line) > wide {
				t.Errorf("%s: a line of %d: %s", cmd.Name(), len(line), line)
			}
		}
	}
	var root strings.Builder
	cmd := newRootCommand()
	cmd.SetOut(&root)
	if err := cmd.Help(); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{"\nConvert:", "\nRepair:", "\nCompare and inspect:", "\nOne conversion on many machines:", "\nCommon flags:", "\nSpeed and time:", "\nExit codes:"} {
		i := strings.Index(root.String(), want)
		if i <= at {
			t.Errorf("%q does not stand behind what comes before it", want)
		}
		at = i
	}
}

func TestFlagsThatExcludeEachOther(t *testing.T) {
	for args, want := range map[string]string{
		"--slow 2 --speed 3":                   "--slow and --speed exclude each other",
		"--speed 3 --slow 2":                   "--slow and --speed exclude each other",
		"--deinterlace --inverse-telecine":     "--deinterlace and --inverse-telecine exclude each other",
		"--deinterlace --inverse-telecine=no":  "invalid",
		"--inverse-telecine=false --slow 1000": "",
	} {
		_, err := conversion(t, strings.Fields(args)...)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	in := clip(t, 16, 16, 2)
	for _, verb := range [][]string{{in}, {"plan", in}, {"batch", filepath.Dir(in), "--glob", "*"}} {
		_, stderr, code := run(t, append(verb, "-o", "x", "--slow", "2", "--speed", "2")...)
		if code != int(fault.Usage) || stderr != "retime: --slow and --speed exclude each other\n" {
			t.Errorf("%q: exit code %d, %s", verb, code, stderr)
		}
	}
}

// If several flags set an option, a message names the one that was given.
func TestMessagesNameFlags(t *testing.T) {
	in := clip(t, 16, 16, 2)
	for args, want := range map[string]string{
		"--fit 3 --speed 2":                  "retime: --fit sets the length of the output; leave out --speed\n",
		"--fit 3 --slow 2":                   "retime: --fit sets the length of the output; leave out --slow\n",
		"--from soon":                        "retime: time \"soon\": want seconds, mm:ss.frac or hh:mm:ss.frac\n",
		"--fps 0":                            "retime: rate \"0\": want 1/100000 to 10000\n",
		"--vopt =3":                          "retime: --vopt \"=3\": want key=value\n",
		"--device 0,0":                       "retime: --device \"0,0\": want different numbers from 0, such as 0,1\n",
		"--in-fps 2x":                        "retime: --in-fps \"2x\": want frames per second as 24 or 24000/1001, from 1/100000 to 10000\n",
		"--resume --segment-seconds soon":    "retime: --segment-seconds: time \"soon\": want seconds, mm:ss.frac or hh:mm:ss.frac\n",
		"--resume --segment-seconds 0":       "retime: --segment-seconds 0.000: must be positive\n",
		"--resume --sidecar x":               "retime: --sidecar is written by a conversion in one run only\n",
		"--crf many":                         "retime: invalid argument \"many\" for \"--crf\" flag: want a whole number; see retime --help\n",
		"--shutter 180 --keep-timestamps":    "retime: --shutter needs frames of one length; leave out --keep-timestamps\n",
		"--acodec flac --audio drop":         "retime: --acodec encodes sound, and --audio drop does not; leave out one of them\n",
		"--scene-threshold -1 --preset none": "retime: --preset none: choose from fast, balanced, best\n",
	} {
		_, stderr, code := run(t, append([]string{in, "-o", filepath.Join(t.TempDir(), "x.nut")}, strings.Fields(args)...)...)
		if code != int(fault.Usage) || stderr != want {
			t.Errorf("%s: exit code %d\n%swant\n%s", args, code, stderr, want)
		}
	}
}

// Each option in a message of the library has a flag.
func TestOptionsInMessagesHaveFlags(t *testing.T) {
	// The user names the input without a flag, only a program sets the log, and a job file says where rules are lenient.
	none := []string{"Input.File", "Hooks.Log", "Output.Keep", "Output.LenientChannels"}
	found := 0
	err := filepath.WalkDir("../../pipeline", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			message, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Error(err)
			}
			for _, option := range optionNames.FindAllString(message, -1) {
				found++
				if _, ok := flagOf(option, nil); !ok && !slices.Contains(none, option) {
					t.Errorf("%s: no flag sets %s: %q", path, option, message)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || found < 50 {
		t.Errorf("%d options in messages: %v", found, err)
	}
}

// Each option of a conversion has a flag, and each option that a flag names exists.
func TestOptionsAndFlagsAgree(t *testing.T) {
	without := map[string]string{
		"Input.File":             "the argument",
		"Input.SequenceGaps":     "restore sets it",
		"Output.LenientChannels": "follows from the place of the rules in a job file",
		"Output.Keep":            "follows from the files that flags name",
		"Compute.SpeedFile":      "in the user's directory for caches",
		"Hooks.Log":              "messages", "Hooks.Progress": "messages", "Hooks.Digest": "segments", "Hooks.Origin": "segments", "Hooks.Rate": "follows from --sidecar and --verbose",
	}
	options := map[string]bool{}
	o := reflect.TypeFor[pipeline.Options]()
	for _, group := range reflect.VisibleFields(o) {
		if !group.IsExported() || group.Type.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(group.Type) {
			option := group.Name + "." + f.Name
			options[option] = true
			if _, ok := flagOf(option, nil); ok == (without[option] != "") {
				t.Errorf("%s has a flag: %v; %s", option, ok, without[option])
			}
		}
	}
	for option, flags := range flagsOf() {
		if !options[option] && !strings.HasPrefix(option, "Options.") {
			t.Errorf("--%s sets %s, which there is not", flags[0], option)
		}
	}
	for option := range without {
		if !options[option] {
			t.Errorf("there is no option %s", option)
		}
	}
}

// No struct of the program has more fields than a reader can keep in mind.
func TestTypesAreSmall(t *testing.T) {
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "build" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if typ, ok := n.(*ast.TypeSpec); ok {
				if s, ok := typ.Type.(*ast.StructType); ok && s.Fields.NumFields() > 15 {
					t.Errorf("%s: %s has %d fields", name, typ.Name, s.Fields.NumFields())
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The definition of each flag decides its place in batch, settings files and restore.
func TestFlagsOfVerbs(t *testing.T) {
	list := func(keep func(d flag) bool) string {
		var o ConvertOptions
		o.setDefaults()
		var names []string
		for _, d := range o.flags() {
			if keep(d) {
				names = append(names, d.name)
			}
		}
		return strings.Join(names, " ")
	}
	for what, c := range map[string]struct{ got, want string }{
		"of no clip":          {list(func(d flag) bool { return d.role == roleProgram }), "confine progress resume segment-seconds dry-run overwrite quiet no-warn verbose"},
		"of the same result":  {list(func(d flag) bool { return d.role.sameOutput() && d.role != roleProgram }), "output flow-cache threads backend device device-memory gpu-fault no-verify"},
		"of one run":          {list(func(d flag) bool { return d.use == writesFile }), "write-scenes sidecar confidence-maps write-flow"},
		"not of restorations": {list(func(d flag) bool { return d.verbs&restoreVerb == 0 }), "fps slow speed fit curve keep-timestamps shutter shutter-phase shutter-samples light audio from to duplicates write-scenes sidecar decisions confidence-maps write-flow flow-format write-confidence inverse-telecine hwdec start-number confine resume segment-seconds dry-run"},
	} {
		if c.got != c.want {
			t.Errorf("flags %s: %s, want %s", what, c.got, c.want)
		}
	}
	for _, verb := range []string{"restore", "evaluate", "debug", "resample"} {
		if cmd, _, err := newRootCommand().Find([]string{verb}); err != nil || cmd.Flags().Lookup("confine") != nil {
			t.Errorf("%s has --confine: %v", verb, err)
		}
	}
	in := clip(t, 64, 48, 6)
	if err := inProcess(t, "review", in, in+".nut", "--no-open", "--keep-timestamps"); fault.KindOf(err) != fault.Usage {
		t.Errorf("review with --keep-timestamps: %v", err)
	}
}

// A flag that wants a number refuses the empty text of a shell's variable that is not set.
func TestEmptyNumbers(t *testing.T) {
	var o ConvertOptions
	for _, name := range []string{
		"fps", "slow", "speed", "fit", "from", "to", "shutter", "in-fps", "order", "scene-threshold", "blend-below", "nearest-below", "crf", "start-number",
		"threads", "device", "segment-seconds",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.AddFlags(flags)
		if err := flags.Set(name, ""); err == nil {
			t.Errorf("--%s takes no number", name)
		}
	}
	var r ResampleOptions
	var d RestoreOptions
	for name, declare := range map[string]func(*pflag.FlagSet){
		"size": r.AddFlags, "order": r.AddFlags, "shift": r.AddFlags, "zoom": r.AddFlags, "rotate": r.AddFlags, "center": r.AddFlags, "affine": r.AddFlags,
		"homography": r.AddFlags, "precision": r.AddFlags, "frames": d.AddFlags, "max-run": d.AddFlags,
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		declare(flags)
		if err := flags.Set(name, ""); err == nil {
			t.Errorf("--%s takes no number", name)
		}
	}
}

// The flags that decide an output come in one order, whatever that of a map is.
func TestFlagsOfTheOutputComeInOneOrder(t *testing.T) {
	var o ReviewOptions
	flags := pflag.NewFlagSet("review", pflag.ContinueOnError)
	o.AddFlags(flags)
	args := "--vopt=e=5 --vopt=a=1 --vopt=d=4 --vopt=b=2 --vopt=c=3 --map=0:v --map=-0:s --threads=2 --fps=60 --quiet --output=x --glob=y"
	if err := flags.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	want := "{fps 60} {map 0:v} {map -0:s} {threads 2} {vopt a=1} {vopt b=2} {vopt c=3} {vopt d=4} {vopt e=5}"
	for range 20 {
		if got := strings.Trim(fmt.Sprint(givenFlags(flags)), "[]"); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	c := batchClip{given: flags, input: "in"}
	if got, want := strings.Join(c.arguments(), " "), "in --output= --vopt=a=1 --vopt=b=2 --vopt=c=3 --vopt=d=4 --vopt=e=5 --map=0:v --map=-0:s --threads=2 --fps=60"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
