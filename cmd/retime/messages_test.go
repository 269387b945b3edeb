package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// Messages about files say what is wrong with the file, and nothing of the program's
// insides.
func TestMessagesArePlain(t *testing.T) {
	dir := t.TempDir()
	in := clip(t, 16, 16, 2)
	long := strings.Repeat("x", 1<<17)
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	none := filepath.Join(dir, "none")
	for _, c := range []struct {
		args []string
		want string
		kind fault.Kind
	}{
		{[]string{none + ".mkv", "-o", "x.mkv"}, `input "` + none + `.mkv": no such file or directory`, fault.NoInput},
		{[]string{"review", none + ".mkv", "--no-open"}, `input "` + none + `.mkv": no such file or directory`, fault.NoInput},
		{[]string{"review", in, in, "--no-open"}, "is the input; choose another name", fault.Usage},
		{[]string{"batch", none}, `"` + none + `": no such file or directory`, fault.NoInput},
		{[]string{in, "-o", "x.mkv", "--curve", file("curve", long)}, "a line is longer than 65536 bytes", fault.Usage},
		{[]string{in, "-o", "x.mkv", "--scenes", file("scenes", long)}, "a line is longer than 65536 bytes", fault.BadData},
		{[]string{"restore", in, "-o", "x.mkv", "--list", file("list", long)}, "a line is longer than 65536 bytes", fault.BadData},
		{[]string{in, "-o", "x.mkv", "--decisions", file("empty", "")}, "holds no decision", fault.BadData},
		{[]string{"join", "--plan", file("plan.json", "5"), "-o", filepath.Join(dir, "o.mkv")}, "want a JSON object, not a number", fault.BadData},
		{[]string{in, "-o", "x.mkv", "--scene-threshold", "x"}, "want a number", fault.Usage},
		{[]string{in, "-o", "x.mkv", "--resume=maybe"}, "want true or false", fault.Usage},
	} {
		_, stderr, code := run(t, c.args...)
		if code != int(c.kind) || !strings.Contains(stderr, c.want) {
			t.Errorf("%.80q: exit code %d, want %d\n%.300swant %s", c.args, code, c.kind, stderr, c.want)
		}
		for _, inside := range []string{"bufio", "strconv", "Go ", "stat ", "segment.", "json:"} {
			if strings.Contains(stderr, inside) {
				t.Errorf("%.80q: %.300sspeaks of %q", c.args, stderr, inside)
			}
		}
	}
}

// What is lost is said unless --no-warn silences it.
func TestQuietWarns(t *testing.T) {
	for _, c := range []struct {
		display display
		want    slog.Level
	}{
		{display{}, slog.LevelInfo},
		{display{verbose: true}, slog.LevelDebug},
		{display{quiet: true}, slog.LevelWarn},
		{display{noWarn: true}, slog.LevelError},
		{display{quiet: true, noWarn: true}, slog.LevelError},
	} {
		if got := c.display.logLevel(); got != c.want {
			t.Errorf("%+v: prints from %s on, want %s", c.display, got, c.want)
		}
	}
}
