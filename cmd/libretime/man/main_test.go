package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page names every function, type, field and constant of the header, and is correct roff; a
// declaration without a comment is refused.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../libretime.h")
	if err != nil {
		t.Fatal(err)
	}
	header := string(data)
	page, err := write(header, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(header, "")
	words := regexp.MustCompile(`(retime|RETIME)_\w+|\w+(\[\d\])?[,;]`).FindAllString(code, -1)
	if len(words) < 80 {
		t.Fatalf("the header has %d names", len(words))
	}
	for _, w := range words {
		if w = strings.TrimRight(w, ",;"); w != "RETIME_TYPES_ONLY" && !strings.Contains(string(page), w) {
			t.Errorf("the page lacks %s", w)
		}
	}
	if !strings.Contains(string(page), "1.2.3") {
		t.Error("the page lacks the version")
	}
	for _, mark := range []string{"/* pictures per second; must be set */", "/* memory is short, or no device answers */"} {
		if without := strings.Replace(header, mark, "", 1); without == header {
			t.Errorf("the header has no comment %s", mark)
		} else if _, err := write(without, ""); err == nil {
			t.Errorf("not refused without %s", mark)
		}
	}

	man, err := exec.LookPath("man")
	if err != nil {
		t.Log("man is not installed")
		return
	}
	name := filepath.Join(t.TempDir(), "libretime.3")
	if err := os.WriteFile(name, page, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(man, "--warnings", "-l", name)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "MANWIDTH=140")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("man: %v: %s", err, &complaints)
	}
}
