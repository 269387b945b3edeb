//go:build openexr

package exr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tool runs one of OpenEXR's tools.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip("no " + name + "; install openexr")
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// render writes a picture with colour as halves, depth and ids, and attributes that studios set.
func render(t *testing.T, name string, width, height int) {
	t.Helper()
	var file bytes.Buffer
	channels := []Channel{{"R", Half, sample(0)}, {"G", Half, sample(2)}, {"B", Half, sample(4)}, {"Z", Float, sample(1)},
		{"id", Float, func(x, y int) float32 { return math.Float32frombits(1<<31 + uint32(x+y*width)) }}}
	if err := Write(&file, width, height, channels); err != nil {
		t.Fatal(err)
	}
	id := append([]byte("\x00id\x00"), byte(Float))
	ids := bytes.Clone(file.Bytes())
	ids[bytes.Index(ids, id)+len(id)-1] = byte(Uint)
	plain := filepath.Join(filepath.Dir(name), "plain.exr")
	write(t, plain, ids)
	tool(t, "exrstdattr", "-timeCode", "16909060", "7", "-chromaticities", "0.7", "0.3", "0.2", "0.7", "0.1", "0.05", "0.3", "0.3",
		"-owner", "somebody", "-string", "shot", "ab_010", plain, name)
}

// Each compression keeps what it can, and the header but for the window is the model's.
func TestCodec(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.exr")
	render(t, name, 37, 35)
	model := read(t, name)
	parts, err := Decode(model, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := &parts[0]
	for i, c := range []struct {
		name   string
		kind   Type
		sample func(x, y int) float32
	}{{"B", Half, sample(4)}, {"G", Half, sample(2)}, {"R", Half, sample(0)}, {"Z", Float, sample(1)}} {
		if got, at := &p.Planes[i], 7+3*37; got.Name != c.name || got.Type != c.kind || got.Value(at) != c.sample(7, 3) {
			t.Errorf("channel %q of type %d has %v, want %+v", got.Name, got.Type, got.Value(at), c)
		}
	}
	if id := &p.Planes[4]; id.Name != "id" || id.Type != Uint || id.Bits[50] != 1<<31+50 {
		t.Errorf("channel %q of type %d has %d", id.Name, id.Type, id.Bits[50])
	}
	p.Window = p.Window.Add(image.Pt(-5, 9))
	compression := []byte("compression\x00compression\x00\x01\x00\x00\x00")
	at := bytes.Index(model, compression) + len(compression)
	for kind, want := range []string{"none", "run-length", "zip, individual", "zip, multi", "piz", "pxr24", "b44", "b44a", "dwa, small", "dwa, medium"} {
		model[at] = byte(kind)
		file, err := Encode(model, parts, 2)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		write(t, name, file)
		said := tool(t, "exrheader", name)
		for _, want := range []string{"compression (type compression): " + want, "data window (type box2i): (-5 9) - (31 43)", "displayWindow (type box2i): (0 0) - (36 34)",
			"owner (type string): \"somebody\"", "shot (type string): \"ab_010\"", "red   (0.7 0.3)", "user data 0x7", "id, 32-bit unsigned integer", "R, 16-bit floating-point"} {
			if want = strings.Replace(want, "data window", "dataWindow", 1); !strings.Contains(said, want) {
				t.Errorf("exrheader does not say %q:\n%s", want, said)
			}
		}
		tool(t, "exrinfo", "-v", name)
		got, err := Decode(file, 2)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if exact := kind <= 4; exact && !reflect.DeepEqual(got, parts) {
			t.Errorf("%s: other samples", want)
		} else if !exact {
			for c, plane := range got[0].Planes {
				for i := range plane.Bits {
					have, want := float64(plane.Value(i)), float64(parts[0].Planes[c].Value(i))
					if math.Abs(have-want) > 2 || plane.Type == Uint && have != want {
						t.Fatalf("compression %d: channel %s has %v, want %v", kind, plane.Name, have, want)
					}
				}
			}
		}
	}
}

// Tiles, levels and parts are read as OpenEXR's tools write them.
func TestCodecOfTilesAndParts(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	render(t, at("a.exr"), 37, 35)
	render(t, at("b.exr"), 9, 70)
	want := map[string][]Part{}
	for _, name := range []string{"a.exr", "b.exr"} {
		parts, err := Decode(read(t, at(name)), 2)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = parts
	}
	tool(t, "exrmaketiled", "-o", "-t", "16", "8", "-z", "piz", at("a.exr"), at("tiles.exr"))
	tool(t, "exrmaketiled", "-m", "-f", "id", at("a.exr"), at("levels.exr"))
	for _, name := range []string{"tiles.exr", "levels.exr"} {
		got, err := Decode(read(t, at(name)), 2)
		if err != nil || !got[0].tiled {
			t.Fatalf("%s: %v, or no tiles", name, err)
		}
		if got[0].tiled = false; !reflect.DeepEqual(got, want["a.exr"]) {
			t.Errorf("%s: other samples", name)
		}
		file, err := Encode(read(t, at(name)), got, 2)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		write(t, at("lines.exr"), file)
		if said := tool(t, "exrheader", at("lines.exr")); strings.Contains(said, "tile") || !strings.Contains(said, "shot") {
			t.Errorf("%s as lines: %s", name, said)
		}
		if again, err := Decode(file, 2); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s as lines: %v", name, err)
		}
	}
	tool(t, "exrmultipart", "-combine", "-i", at("a.exr")+"::beauty", at("b.exr")+"::ids", "-o", at("both.exr"), "-override", "1")
	parts, err := Decode(read(t, at("both.exr")), 2)
	if err != nil || len(parts) != 2 || parts[0].Name != "beauty" || parts[1].Name != "ids" || !reflect.DeepEqual(parts[1].Planes, want["b.exr"][0].Planes) {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	file, err := Encode(read(t, at("both.exr")), parts, 2)
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("again.exr"), file)
	if a, b := tool(t, "exrheader", at("both.exr")), tool(t, "exrheader", at("again.exr")); strings.ReplaceAll(a, "both", "again") != b {
		t.Errorf("headers differ:\n%s\n%s", a, b)
	}
	if again, err := Decode(file, 2); err != nil || !reflect.DeepEqual(again, parts) {
		t.Errorf("parts: %v", err)
	}
}

// Damaged files are errors.
func TestDecodeDamaged(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, 20, 40, []Channel{{"R", Half, sample(0)}, {"Z", Float, sample(0)}}); err != nil {
		t.Fatal(err)
	}
	for n := range file.Len() {
		if _, err := Decode(file.Bytes()[:n], 2); err == nil {
			t.Fatalf("cut to %d of %d bytes: no error", n, file.Len())
		}
	}
	few := bytes.Clone(file.Bytes())
	few[bytes.Index(few, []byte("R\x00\x01"))+10] = 2 // columns to a sample
	if _, err := Decode(few, 2); !errors.Is(err, ErrUnsupported) {
		t.Errorf("fewer samples: %v", err)
	}
	swapped := bytes.Clone(file.Bytes())
	swapped[bytes.Index(swapped, []byte("R\x00\x01"))] = 'z'
	if _, err := Decode(swapped, 2); !errors.Is(err, ErrUnsupported) {
		t.Errorf("channels out of order: %v", err)
	}
}

// Windows and lists of channels that would take more memory than pictures may are refused before any is taken.
func TestLargeWindows(t *testing.T) {
	file := func(channels int, last ...uint32) []byte {
		t.Helper()
		var list []Channel
		for i := range channels {
			list = append(list, Channel{fmt.Sprintf("c%03d", i), Half, sample(0)})
		}
		var b bytes.Buffer
		if err := Write(&b, 2, 2, list); err != nil {
			t.Fatal(err)
		}
		name := []byte("dataWindow\x00box2i\x00")
		box := b.Bytes()[bytes.Index(b.Bytes(), name)+len(name)+4:]
		for i, v := range last {
			binary.LittleEndian.PutUint32(box[8+4*i:], v)
		}
		return b.Bytes()
	}
	for name, f := range map[string][]byte{
		"large": file(1, 1<<20-1, 1<<14-1), "a little too large": file(1, 1<<13-1, 1<<13), "many channels": file(17, 1<<13-1, 1<<13-1),
	} {
		if _, err := Decode(f, 2); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if parts, err := Parts(file(16, 1<<13-1, 1<<13-1)); err != nil || Supported(parts) != nil {
		t.Errorf("the largest: %v, %v", err, Supported(parts))
	}
	if Fits(image.Rect(0, 0, 1<<20, 1).Union(image.Rect(0, 0, 1, 1<<20))) {
		t.Error("a window of 2^40 pixels fits")
	}
}

func FuzzDecode(f *testing.F) {
	var file bytes.Buffer
	if err := Write(&file, 5, 20, []Channel{{"R", Half, sample(0)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(_ *testing.T, data []byte) {
		parts, _ := Parts(data)
		for _, p := range parts {
			if p.Window.Dx()*p.Window.Dy()*len(p.Planes) > 1<<20 {
				return
			}
		}
		if parts, err := Decode(data, 2); err == nil {
			_, _ = Encode(data, parts, 2)
		}
	})
}

// lengthOfHeaders returns where the last header of a file ends.
func lengthOfHeaders(file []byte) int {
	at := bytes.LastIndex(file, []byte("screenWindowWidth\x00"))
	for file[at] != 0 {
		at += bytes.IndexByte(file[at:], 0) + 1
		at += bytes.IndexByte(file[at:], 0) + 1
		at += 4 + int(binary.LittleEndian.Uint32(file[at:]))
	}
	return at + 1
}

// with returns a file of one part with one more attribute, which counts if there is another of its name.
func with(file []byte, attribute string) []byte {
	file = bytes.Clone(file)
	at := lengthOfHeaders(file)
	for table := file[at:binary.LittleEndian.Uint64(file[at:])]; len(table) > 0; table = table[8:] {
		binary.LittleEndian.PutUint64(table, binary.LittleEndian.Uint64(table)+uint64(len(attribute)))
	}
	return slices.Concat(file[:at-1], []byte(attribute), file[at-1:])
}

// Of a file that ends early anywhere behind its header, or of which a chunk was never written, a part is missing, whatever its chunks.
func TestCheckComplete(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	render(t, at("lines.exr"), 37, 35)
	tool(t, "exrmaketiled", "-o", "-t", "16", "8", at("lines.exr"), at("tiles.exr"))
	tool(t, "exrmaketiled", "-m", "-t", "16", "16", at("lines.exr"), at("mipmap.exr"))
	tool(t, "exrmaketiled", "-r", "-u", "-t", "8", "16", at("lines.exr"), at("ripmap.exr"))
	tool(t, "exrmultipart", "-combine", "-i", at("tiles.exr")+"::a", at("lines.exr")+"::b", "-o", at("parts.exr"), "-override", "1")
	names := []string{"lines.exr", "tiles.exr", "mipmap.exr", "ripmap.exr", "parts.exr"}
	for name, attribute := range map[string]string{ // of the picture that a file was made of
		"count":    "chunkCount\x00int\x00\x04\x00\x00\x00\x28\x00\x00\x00",
		"oldtiles": "tiles\x00tiledesc\x00\x09\x00\x00\x00\x08\x00\x00\x00\x08\x00\x00\x00\x00",
		"olddeep":  "type\x00string\x00\x08\x00\x00\x00deeptile",
	} {
		for _, of := range names[:2] {
			if name == "oldtiles" && of == "tiles.exr" {
				continue // that has its own
			}
			of, file := name+"-"+of, read(t, at(of))
			write(t, at(of), with(file, attribute))
			names = append(names, of)
			if parts, err := Decode(read(t, at(of)), 0); err != nil || parts[0].Deep {
				t.Errorf("%s: %v, or deep", of, err)
			}
		}
	}
	for _, name := range names {
		file := read(t, at(name))
		if err := CheckComplete(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		headers := lengthOfHeaders(file)
		if name == "parts.exr" {
			headers++
		}
		for n := headers; n < len(file); n += 1 + n/40 {
			if err := CheckComplete(file[:n]); !errors.Is(err, ErrIncomplete) {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(file), err)
			}
		}
		clear(file[headers+8 : headers+16])
		if err := CheckComplete(file); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s without its second chunk: %v", name, err)
		}
	}
}
