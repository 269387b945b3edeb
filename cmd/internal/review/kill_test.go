package review

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/decision"
)

const killedEnv = "RETIME_TEST_REVIEW_INPUT"

// TestKilledServer runs a server of its own in the process that TestKill kills.
func TestKilledServer(t *testing.T) {
	input := os.Getenv(killedEnv)
	if input == "" {
		t.Skip("TestKill runs it in a process of its own")
	}
	s, err := New(Options{Clips: []Clip{doubled(input)}, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("address", s.URL())
	_ = s.Serve(context.Background())
}

// A server that is killed in the middle of an edit leaves its files whole: as before the edit,
// or as after it.
func TestKill(t *testing.T) {
	input := cutClip(t, 96, 64, 12)
	clip := doubled(input)
	t.Setenv("TMPDIR", t.TempDir())
	for round := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledServer$")
		cmd.Env = append(os.Environ(), killedEnv+"="+input)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test ends early
		lines := bufio.NewScanner(out)
		address := ""
		for address == "" && lines.Scan() {
			address, _ = strings.CutPrefix(lines.Text(), "address ")
			if !strings.HasPrefix(address, "http") {
				address = ""
			}
		}
		send := func(body string) error {
			r, err := http.NewRequest(http.MethodPost, address+"clip/0/edit", strings.NewReader(body))
			if err != nil {
				return err
			}
			r.Header.Set("Origin", address[:strings.Index(address[7:], "/")+7])
			r.Header.Set("Content-Type", "application/json")
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer a.Body.Close()
			if text, _ := io.ReadAll(a.Body); a.StatusCode != http.StatusOK {
				return fmt.Errorf("%d %s", a.StatusCode, text)
			}
			return nil
		}
		for i := range 3 {
			if err := send(fmt.Sprintf(`{"do":"method","first":0,"last":23,"method":%q}`, []string{"blend", "nearest", "source"}[(i+round)%3])); err != nil {
				t.Fatal(err)
			}
		}
		before, err := os.ReadFile(clip.Files.Decisions)
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_ = send(`{"do":"method","first":0,"last":23,"method":"interpolated"}`) // it may be cut off
		}()
		for range round * 400 { // some way into the edit
			if _, err := os.Stat(clip.Files.Decisions); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-sent
		after, err := os.ReadFile(clip.Files.Decisions)
		if err != nil {
			t.Fatal(err)
		}
		list, err := decision.Read(bytes.NewReader(after))
		if err != nil || len(list) != 24 {
			t.Fatalf("%d decisions: %v", len(list), err)
		}
		whole := !slices.ContainsFunc(list, func(d pipeline.Decision) bool { return d.Method != list[0].Method })
		if !whole || list[0].Method != pipeline.Interpolated && !bytes.Equal(before, after) {
			t.Errorf("after a kill the file holds\n%s", after)
		}
	}
	s := serve(t, Options{Clips: []Clip{clip}})
	if status, _, text := ask(t, s, "GET", "clip/0/state", "", nil); status != 200 || !json.Valid([]byte(text)) {
		t.Errorf("the next server: %d", status)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(input), ".*part*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	c, err := s.session(0)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), ".retime-review-*")); len(left) != 1 || left[0] != c.cache.Name() {
		t.Errorf("%q is in the directory of temporary files, want %q alone", left, c.cache.Name())
	}
}
