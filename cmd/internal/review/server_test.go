package review

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retime/pipeline/fault"
)

// ask sends a request as the page does, but for what change changes, and returns the answer.
func ask(t testing.TB, s *Server, method, path, body string, change func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+s.host)
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, a.Header, string(text)
}

// paths are all that the server answers.
var paths = []struct{ method, path, body string }{
	{"GET", "", ""}, {"GET", "static/app.js", ""}, {"GET", "clips", ""}, {"GET", "events", ""}, {"GET", "clip/0/", ""}, {"GET", "clip/0/state", ""}, {"GET", "clip/0/ratings", ""},
	{"GET", "clip/0/frame?view=final&frame=0", ""}, {"GET", "clip/0/thumbnail?frame=0", ""}, {"GET", "clip/0/why?frame=0", ""}, {"GET", "clip/0/drawing?frame=1&name=1-first.png", ""},
	{"GET", "clip/0/sound?from=0", ""}, {"GET", "clip/0/mask", ""}, {"GET", "clip/0/events", ""}, {"POST", "clip/0/edit", `{"do":"undo"}`}, {"POST", "clip/0/render", `{}`}, {"POST", "clip/0/cancel", `{}`}, {"POST", "clip/0/rate", `{}`},
}

// Nothing is answered to a request without the token, under another name, or from another site.
func TestStrangersAreRefused(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}})
	noToken := func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, s.token, "clip", 1) }
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
		posts  bool // only requests that change something are refused
	}{
		"no token":                 {noToken, http.StatusForbidden, false},
		"an empty token":           {func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, s.token, "", 1) }, http.StatusForbidden, false},
		"half the token":           {func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, s.token, s.token[:20], 1) }, http.StatusForbidden, false},
		"a foreign host":           {func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest, false},
		"a foreign host and port":  {func(r *http.Request) { r.Host = "evil.example:" + strings.Split(s.host, ":")[1] }, http.StatusMisdirectedRequest, false},
		"localhost":                {func(r *http.Request) { r.Host = "localhost:" + strings.Split(s.host, ":")[1] }, http.StatusMisdirectedRequest, false},
		"a foreign origin":         {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden, false},
		"no known origin":          {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden, false},
		"two origins":              {func(r *http.Request) { r.Header["Origin"] = []string{"http://" + s.host, "https://evil.example"} }, http.StatusForbidden, false},
		"another site":             {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden, false},
		"another port of the site": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden, false},
		"no origin at all":         {func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden, true},
		"typed into a browser":     {func(r *http.Request) { r.Header.Del("Origin"); r.Header.Set("Sec-Fetch-Site", "none") }, http.StatusForbidden, true},
	} {
		for _, p := range paths {
			if c.posts && p.method != "POST" {
				continue
			}
			status, _, text := ask(t, s, p.method, p.path, p.body, c.change)
			if status != c.status || len(text) > 200 {
				t.Errorf("%s: %s %s: %d %.80s", name, p.method, p.path, status, text)
			}
		}
	}
	// A form of another site can send text, but no JSON.
	status, _, _ := ask(t, s, "POST", "clip/0/edit", `{"do":"undo"}`, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	if status != http.StatusBadRequest {
		t.Errorf("an edit as text: %d", status)
	}
}

// No request reads a file that it names.
func TestNoRequestNamesAFile(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}})
	for _, path := range []string{
		"../etc/passwd", "static/../server.go", "static/..%2fserver.go", "static/%2e%2e/server.go", "static//etc/passwd", "static/..\\server.go", "static/clip.html", "static/", "static/.", "page/app.js",
		"clip/../../etc/passwd", "clip/0/../1/", "clip/1/", "clip/-1/", "clip/x/", "clip/99999999999999999999/state", "clip/0/drawing?frame=1&name=../1-first.png", "clip/0/drawing?frame=1&name=/etc/passwd", "clip/0/frame?view=/etc/passwd&frame=0",
	} {
		status, _, text := ask(t, s, "GET", path, "", func(r *http.Request) {
			raw, _, _ := strings.Cut(path, "?")
			r.URL.Opaque = "//" + s.host + "/" + s.token + "/" + raw // as it stands
		})
		if status < 300 || strings.Contains(text, "root:") || strings.Contains(text, "package review") {
			t.Errorf("%s: %d %.100s", path, status, text)
		}
	}
}

// Requests beyond the limits are refused, and the page is safe from other sites.
func TestLimits(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}})
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "clip/0/frame?view=final&frame=24", "", 400}, {"GET", "clip/0/frame?view=final&frame=-1", "", 400}, {"GET", "clip/0/frame?view=final&frame=1e3", "", 400},
		{"GET", "clip/0/frame?view=worst&frame=1", "", 400}, {"GET", "clip/0/frame?view=final", "", 400}, {"DELETE", "clip/0/state", "", 403}, {"GET", "clip/0/edit", "", 405},
		{"POST", "clip/0/edit", `{"do":"method","first":0,"last":99,"method":"nearest"}`, 400}, {"POST", "clip/0/edit", `{"do":"method","first":3,"last":1,"method":"nearest"}`, 400},
		{"POST", "clip/0/edit", `{"do":"method","first":0,"last":1,"method":"magic"}`, 400}, {"POST", "clip/0/edit", `{"do":"magic"}`, 400}, {"POST", "clip/0/edit", `{"do":"undo","file":"/etc/passwd"}`, 400},
		{"POST", "clip/0/edit", `{"do":"region","first":1,"last":1,"method":"nearest","outline":[[0,0],[1,1]]}`, 400}, {"POST", "clip/0/edit", `{"do":"mask","outline":[[0,0],[1e300,0],[0,1]]}`, 400},
		{"POST", "clip/0/edit", `{"do":"curve","keys":[{"source":"0","speed":"100%"}]}`, 400}, {"POST", "clip/0/edit", `{"do":"curve","keys":[{"source":"0\n9 9","speed":"100%"},{"source":"end","speed":"1%"}]}`, 400},
		{"POST", "clip/0/edit", `{"do":"shutter","value":"1e9"}`, 400}, {"POST", "clip/0/edit", `{"do":"preset","value":"../x"}`, 400}, {"POST", "clip/0/edit", `nonsense`, 400},
		{"POST", "clip/0/edit", `{"do":"` + strings.Repeat("x", maxBody) + `"}`, 413},
	} {
		status, _, text := ask(t, s, c.method, c.path, c.body, nil)
		if status != c.status {
			t.Errorf("%s %s %.60s: %d %.100s, want %d", c.method, c.path, c.body, status, text, c.status)
		}
	}
	status, h, _ := ask(t, s, "GET", "clip/0/", "", nil)
	if status != 200 || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("the page comes with %d %v", status, h)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") || len(s.token) < 40 {
		t.Errorf("the address is %s", s.URL())
	}
}

// All that a page loads stays below 200 kB.
func TestPageIsSmall(t *testing.T) {
	entries, err := os.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total == 0 || total > 200_000 {
		t.Errorf("the page has %d bytes", total)
	}
}

// The server ends when the last tab has been closed for a while, and not before.
func TestLastTabEndsTheServer(t *testing.T) {
	s, err := New(Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}, Idle: time.Millisecond, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background()) }()
	listen := func() io.ReadCloser {
		t.Helper()
		a, err := http.Get(s.URL() + "clip/0/events")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(a.Body).ReadString('{'); err != nil { // hello
			t.Fatal(err)
		}
		return a.Body
	}
	one, two := listen(), listen()
	one.Close()
	if status, _, _ := ask(t, s, "GET", "clip/0/state", "", nil); status != 200 {
		t.Errorf("with one tab left: %d", status)
	}
	two.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What is wrong with a clip is told before there is an address.
func TestNewOpensTheClip(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.mkv")
	if _, err := New(Options{Clips: []Clip{doubled(missing)}, Program: "test"}); fault.KindOf(err) != fault.NoInput || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	homeless := doubled(cutClip(t, 96, 64, 12))
	homeless.Conversion.Output.File = filepath.Join(dir, "none", "out.mkv")
	if _, err := New(Options{Clips: []Clip{homeless}, Program: "test"}); fault.KindOf(err) != fault.CannotWrite || !strings.Contains(err.Error(), fmt.Sprintf("output %q: there is no directory %q", homeless.Conversion.Output.File, filepath.Join(dir, "none"))) {
		t.Errorf("an output in no directory: %v", err)
	}
	text := filepath.Join(dir, "text.mkv")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Clips: []Clip{doubled(text)}, Program: "test"}); fault.KindOf(err) != fault.BadData {
		t.Errorf("a text: %v", err)
	}
}

// A conversion that is confined to a directory keeps its flow there, too.
func TestConfined(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 12))
	dir := filepath.Dir(clip.Conversion.Input.File)
	clip.Conversion.Compute.Confine = dir
	t.Run("server", func(t *testing.T) {
		s := serve(t, Options{Clips: []Clip{clip}})
		if status, _, text := ask(t, s, "GET", "clip/0/frame?view=fast&frame=1", "", nil); status != http.StatusOK {
			t.Errorf("%d %.200s", status, text)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(dir, ".retime-review-*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// A rendering keeps the server whole until it has ended, though no tab is open, and one that
// waits for another can be cancelled.
func TestRenderingKeepsTheServer(t *testing.T) {
	s, err := New(Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}, Idle: time.Millisecond, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background()) }()
	s.renderer <- struct{}{} // another clip is rendered
	if status, _, text := ask(t, s, "POST", "clip/0/render", `{}`, nil); status != http.StatusOK {
		t.Fatalf("render: %d %s", status, text)
	}
	c, err := s.session(0)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := s.hub.open(0)
	s.hub.close(one)
	s.idle()
	if s.ctx.Err() != nil {
		t.Error("the server ends during a rendering")
	}
	if status, _, text := ask(t, s, "POST", "clip/0/edit", `{"do":"method","first":1,"last":1,"method":"blend"}`, nil); status != http.StatusOK {
		t.Errorf("edit: %d %s", status, text)
	}
	if status, _, text := ask(t, s, "POST", "clip/0/cancel", `{}`, nil); status != http.StatusOK {
		t.Errorf("cancel: %d %s", status, text)
	}
	c.renders.Wait() // the other rendering goes on
	if state := c.state().Render.State; state != "cancelled" {
		t.Errorf("the rendering is %s", state)
	}
	if err := <-ended; err != nil { // nothing is rendered now, and no tab is open
		t.Error(err)
	}
	if _, err := os.Stat(c.cache.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cache is left: %v", err)
	}
}

// The list may be asked for while a clip that cannot be opened is found.
func TestListOfDamagedClips(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(filepath.Join(t.TempDir(), "missing.mkv"))}, Batch: "clips"})
	for {
		var clips []listed
		if _, _, text := ask(t, s, "GET", "clips", "", nil); json.Unmarshal([]byte(text), &clips) != nil || len(clips) != 1 {
			t.Fatalf("clips: %s", text)
		} else if clips[0].Problem != "" {
			return
		}
	}
}

// The directory of flow stays within its bound, and what is newest stays in it.
func TestTrim(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"b.flow", "a.flow", "c.flow", "other"} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		most int64
		left string
	}{{300, "a.flow b.flow c.flow other"}, {299, "a.flow c.flow other"}, {100, "c.flow other"}, {0, "other"}} {
		trim(dir, c.most)
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range list {
			names = append(names, e.Name())
		}
		if left := strings.Join(names, " "); left != c.left {
			t.Errorf("of at most %d bytes, %s is left, want %s", c.most, left, c.left)
		}
	}
}
