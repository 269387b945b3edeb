package shell

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

var processes = []struct{ name, line, out, says string }{
	{"gets variables", `echo %NAME%`, "a value\r\n", ""},
	{"fails", "echo first>&2& echo last>&2& exit 3", "", "it ended in the test (exit status 3): last"},
	{"quotes", `cd "." && echo "a b"`, "\"a b\"\r\n", ""},
}

// waiting is a line that waits, as does what it starts; silent is set if they write nothing meanwhile.
const (
	waiting = "cmd /c pause & pause"
	silent  = false
)

// wordsVariable has the test's program write the words of its command line.
const wordsVariable = "RETIME_TEST_WORDS"

func TestMain(m *testing.M) {
	if os.Getenv(wordsVariable) != "" {
		fmt.Print(strings.Join(os.Args[1:], "\n"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cmd.exe and the program that it starts take a command line apart into the words that it was joined from.
func TestJoin(t *testing.T) {
	words := []string{"plain-1.mp4", "", "two words", "it's", `C:\a dir\b.mp4`, `\\server\share`, `ends in two\ \\`, `a "quote\" b`, "a&b|c<d>e^f(g)", "100%", "é"}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Join(append([]string{exe}, words...)), wordsVariable+"=yes")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.In.Close()
	out, err := io.ReadAll(p.Out)
	if got := strings.Split(string(out), "\n"); err != nil || !slices.Equal(got, words) {
		t.Errorf("%q, %v", got, err)
	}
}
