package restore

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

func TestListRoundTrip(t *testing.T) {
	text := ListHeader + `
120
  133-135 repeated 0.98 5.5 # a comment
0:06.25 garbled region=10,20,100,50 region=0,0,5,5
6.5-7.25 black 1
01:00:00:12-01:00:01;03 flash
200 gap 1.000 8.333333 insert=2
`
	found, err := ParseList(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 6 || found[1].Last.Number != 135 || found[1].Kind != Repeated || found[1].Score != 0.98 ||
		!reflect.DeepEqual(found[2].Regions, []*Region{{X: 10, Y: 20, Width: 100, Height: 50}, {Width: 5, Height: 5}}) || found[4].Last.Timecode.String() != "01:00:01;03" || found[5].Insert != 2 {
		t.Fatalf("read %+v", found)
	}
	var b strings.Builder
	if err := WriteList(&b, found); err != nil {
		t.Fatal(err)
	}
	again, err := ParseList(strings.NewReader(b.String()))
	if err != nil || !reflect.DeepEqual(again, found) {
		t.Errorf("%v: wrote\n%sread %+v", err, b.String(), again)
	}
	if again, err = ParseList(strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil || !reflect.DeepEqual(again, found) {
		t.Errorf("lines that end in CR and LF: %v: read %+v", err, again)
	}
}

// A method that the mode does not have is refused, by its frame.
func TestMethodsOfModes(t *testing.T) {
	input := writeScene(t, 97, 61, 9)
	for _, c := range []struct {
		mode   warp.Mode
		method pipeline.Method
		taken  bool
	}{
		{warp.Blend, pipeline.Interpolated, false}, {warp.Nearest, pipeline.Interpolated, false}, {warp.Nearest, pipeline.Blended, false},
		{warp.Blend, pipeline.Blended, true}, {warp.Nearest, pipeline.FromSource, true}, {"", pipeline.Interpolated, true},
	} {
		o := options(t, input)
		o.Convert.Synthesis.Mode = c.mode
		o.Damage = frames(t, "4")
		o.Damage[0].Method = c.method
		_, err := Run(t.Context(), o)
		want := fmt.Sprintf("4: method %s: Synthesis.Mode %s", c.method, c.mode)
		if taken := err == nil; taken != c.taken || !taken && (fault.KindOf(err) != fault.Usage || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s by %q: %v", c.method, c.mode, err)
		}
	}
}

// Repeats stay, and so are no reason to warn.
func TestRepeatsStayUnsaid(t *testing.T) {
	name := filepath.Join(t.TempDir(), "twos.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=12:duration=4", "-vf", "fps=24", "-c:v", "ffv1", name)
	o := options(t, name)
	o.Damage = frames(t, "30")
	var log bytes.Buffer
	o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
	if mustRun(t, o); strings.Contains(log.String(), "repeat") {
		t.Errorf("%s", log.String())
	}
}

func TestListFaults(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"x", `frame "x"`}, {"-5", `frame ""`}, {"5-3", "before the beginning"}, {"5-0:07", "both"}, {"5-0:0:0:7", "both"}, {"0:7-0:0:0:7", "both"}, {"0:0:0:7:1", "time"}, {"99:0:0;7", "timecode"}, {"1 purple", "purple"}, {"1 black 2", "score"},
		{"1 black NaN", "score"}, {"1 black 1 -3", "time"}, {"1 black 1 1 1", "want frames"}, {"1 region=1,2,3", "region"}, {"1 region=1,2,0,4", "region"},
		{"1 insert=0", "frames"}, {"1 size=3", "method= or insert="}, {"1 insert=1 region=0,0,1,1", "no region"}, {"99999999999999999999", "frame"},
	} {
		_, err := ParseList(strings.NewReader("# head\n\n" + c.line + "\n"))
		if err == nil || fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "line 3: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.line, err)
		}
	}
}

// What WriteList writes, ParseList reads back unchanged.
func FuzzParseList(f *testing.F) {
	f.Add("120\n133-135 repeated 0.5 1.25 # x\n0:01.5 garbled region=1,2,3,4\n7 gap insert=2\n00:01:02:03-00:01:02;05\n")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := ParseList(strings.NewReader(text))
		if err != nil {
			return
		}
		var b strings.Builder
		if err := WriteList(&b, found); err != nil {
			t.Fatal(err)
		}
		again, err := ParseList(strings.NewReader(b.String()))
		if err != nil || len(again) != len(found) {
			t.Fatalf("%q: %v after\n%s", text, err, b.String())
		}
	})
}
