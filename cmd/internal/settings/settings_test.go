package settings

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseJobs(t *testing.T) {
	yaml := `# two clips
defaults:
  slow: 4
  fps: 23.976
  vopt: [preset=slow, tune=film]
clips:
  - input: "päth with space/a b.mp4"
    slow: 2
  - {input: c.mp4, map: ['0:v', '0:a:1']}
`
	json := "{\n\t\"defaults\": {\"slow\": 4, \"fps\": 23.976, \"vopt\": [\"preset=slow\", \"tune=film\"]},\n" +
		"\t\"clips\": [\n\t\t{\"input\": \"p\\u00e4th with space/a b.mp4\", \"slow\": 2},\n\t\t{\"input\": \"c.mp4\", \"map\": [\"0:v\", \"0:a:1\"]}]}"
	for _, text := range []string{yaml, json} {
		clips, err := ParseJobs([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range clips {
			line := ""
			for _, s := range c.Settings {
				line += s.Name + "=" + strings.Join(s.Values, ",") + map[bool]string{true: " by default"}[s.Default] + ";"
			}
			got = append(got, line)
		}
		want := "input=päth with space/a b.mp4;slow=2;fps=23.976 by default;vopt=preset=slow,tune=film by default;\n" +
			"input=c.mp4;map=0:v,0:a:1;slow=4 by default;fps=23.976 by default;vopt=preset=slow,tune=film by default;"
		if strings.Join(got, "\n") != want {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
		}
	}
}

func TestParseJobsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "line 1:",
		"defaults:\n  slow: 4\n": "no clips",
		"clips: []\n":            "no clips",
		"clips:\n":               "line 1: clips",
		"clips: a.mp4\n":         "line 1: clips",
		"- a.mp4\n":              "line 1: want clips",
		"clip:\n  - input: a\n":  `line 1: no "clip"`,
		"clips:\n  - a.mp4\n":    "line 2: want settings",
		"clips:\n  - input: a\n    slow: 2\n    slow: 3": "line 4:",
		"clips:\n  - input: a\n    slow:\n":              "line 3: slow",
		"clips:\n  - input: a\n    slow: {a: b}\n":       "line 3: slow",
		"clips:\n  - input: a\n    map: [[a]]\n":         "line 3: map",
		"defaults: 4\nclips:\n  - input: a\n":            "line 1: want settings",
		"clips:\n  - input: \"a\n":                       "line 2",
		"clips:\n  - input: a\n---\nclips:\n":            "one document",
		"clips: [{input: a}\n":                           "line 1",
	} {
		_, err := ParseJobs([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseJobs(f *testing.F) {
	f.Add([]byte("defaults:\n  slow: 4\nclips:\n  - input: a.mp4\n  - {input: b, map: [x, y]}\n"))
	f.Add([]byte("clips: [*a, &b {c: d}, <<: *e]"))
	f.Add([]byte("{\"clips\":\n\t[{\"input\": \"a\"}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		clips, err := ParseJobs(data)
		if err == nil && len(clips) == 0 {
			t.Error("neither clips nor an error")
		}
	})
}

func TestParse(t *testing.T) {
	got, err := Parse([]byte("preset: best\norder: 0x3\nblend-below: 0.10\nvopt: [a=b]\n"))
	want := []Setting{{"preset", []string{"best"}, false, 1, false}, {"order", []string{"0x3"}, false, 2, false}, {"blend-below", []string{"0.10"}, false, 3, false}, {"vopt", []string{"a=b"}, true, 4, false}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := Parse([]byte("# nothing\n")); err != nil || got != nil {
		t.Errorf("without settings: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"- a\n":                       "line 1: want settings",
		"preset:\n":                   "line 1: preset: want a word",
		"a: 1\nb: 2\na: 3\n":          "line 3:",
		"preset: best\n---\norder: 3": "one document",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
