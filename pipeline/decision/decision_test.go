package decision

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/motion"
)

func TestRead(t *testing.T) {
	list, err := Read(strings.NewReader("\n" + `{"frame":3,"time":0.125,"method":"nearest","cut":true,"note":[1,{}]}` + "\r\n  \n" + `{"frame":0,"preset":"best","shutter":172.8}`))
	if err != nil {
		t.Fatal(err)
	}
	at, cut := 0.125, true
	want := []Decision{{Frame: 3, Time: &at, Method: Nearest, Cut: &cut, Line: 2}, {Frame: 0, Preset: motion.Best, Shutter: "172.8", Line: 4}}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("read %+v, want %+v", list, want)
	}
	for _, m := range []Method{Exposed, Extrapolated} {
		list, err := Read(strings.NewReader(`{"frame":3,"method":"` + string(m) + `"}`))
		if err != nil || len(list) != 1 || list[0].Method != "" {
			t.Errorf("a sidecar's %s frame: %+v, %v", m, list, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`{"frame":1}` + "\n" + `{"frame":2,"method":"warp"}`, `line 2: no method "warp"`},
		{`{"frame":1,"method":"Nearest"}`, `line 1: no method "Nearest"`},
		{`{"method":"nearest"}`, "line 1: want the number of a frame"},
		{`{"frame":-4}`, "line 1: want the number of a frame"},
		{`{"frame":9223372036854775807}`, "line 1: no output has a frame 9223372036854775807"},
		{`{"frame":1.5}`, `line 1: "frame" cannot be a number 1.5`},
		{`{"frame":1,"cut":"yes"}`, `line 1: "cut" cannot be a string`},
		{`{"frame":1,"preset":"slow"}`, `line 1: no preset "slow"; choose from fast, balanced, best`},
		{`{"frame":1,"preset":1}`, `line 1: "preset" cannot be a number`},
		{`{"frame":1,"shutter":361}`, "line 1: no shutter 361; want an angle from 0 to 360"},
		{`{"frame":1,"shutter":-1}`, "line 1: no shutter -1"},
		{`{"frame":1,"shutter":1e1}`, "line 1: no shutter 1e1"},
		{`{"frame":1,"shutter":"wide"}`, "line 1: want a JSON object"},
		{`{"frame":1,"shutter":[]}`, `line 1: "shutter" cannot be a array`},
		{"\n\n[1]", "line 3: want a JSON object"},
		{"\n{\"frame\":1", "line 2: want a JSON object"},
		{`{"frame":1} {"frame":2}`, "line 1: want a JSON object"},
		{`{"frame":7}` + "\n\n" + `{"frame":7}`, "line 3: frame 7 stands in line 1 already"},
		{"\n" + strings.Repeat("x", maxLine+1), "line 2: longer than"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzReadDecisions(f *testing.F) {
	f.Add([]byte(`{"frame":3,"time":0.125,"method":"nearest","cut":true}`))
	f.Add([]byte("{\"frame\":0}\n\n{\"frame\":1e3,\"cut\":null}"))
	f.Add([]byte(`{"frame":5,"regions":[{"method":"motion","outline":[[1,2],[9,2],[5,8]],"arrows":[[4,4,9.5,6],[6,5,2e1,7]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Read(bytes.NewReader(data))
		if err != nil && (list != nil || fault.KindOf(err) != fault.BadData) {
			t.Errorf("%d decisions beside %v", len(list), err)
		}
		for _, d := range list {
			if d.Frame < 0 || d.Line < 1 {
				t.Errorf("%+v", d)
			}
			for _, r := range d.Regions {
				if r.Method == Drawn {
					r.Motion()
				}
			}
		}
	})
}

func TestReadNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n"} {
		if _, err := Read(strings.NewReader(text)); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "no decision") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader("5\n")); err == nil || strings.Contains(err.Error(), "Go") {
		t.Errorf("a number: %v", err)
	}
}

// What is read can be written and read again.
func TestJSON(t *testing.T) {
	cut := true
	want := []Decision{
		{Frame: 1, Preset: motion.Fast, Shutter: "90.25", Cut: &cut, Line: 1},
		{Frame: 2, Method: Nearest, Regions: []Region{{Method: Blended, Outline: [][2]float64{{0, 0}, {4, 0}, {0, 4}}}}, Line: 2},
		{Frame: 3, Regions: []Region{{Method: Drawn, Outline: [][2]float64{{0, 0}, {4, 0}, {0, 4}}, Arrows: [][4]float64{{1, 1, 7.5, -3}}}}, Line: 3},
	}
	var b bytes.Buffer
	for _, d := range want {
		if err := json.NewEncoder(&b).Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Read(&b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"1/2", "+5", "361", "x"} {
		if err := (&Decision{Shutter: json.Number(bad)}).Check(); fault.KindOf(err) != fault.BadData {
			t.Errorf("shutter %q: %v", bad, err)
		}
	}
}
