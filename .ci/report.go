// Command report reads the output of go test -json from standard input and prints
// what go test prints. It fails if a test failed, or if a test was skipped that the
// list named on the command line does not allow.
//
// A line of the list holds a regular expression, which must match the whole name of
// the test, and the reason why the test may be skipped. A line that matches no test
// is an error, too.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// allowance lets the tests that match pattern be skipped.
type allowance struct {
	line    string
	pattern *regexp.Regexp
	used    bool // a test of this name ran or was skipped
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go test -json ... | go run .ci/report.go SKIPS")
	}
	list, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	allowed, err := parseSkips(string(list))
	if err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	problems, err := report(os.Stdin, os.Stdout, allowed)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range problems {
		log.Print(p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// parseSkips reads a list of allowances.
func parseSkips(list string) ([]*allowance, error) {
	var all []*allowance
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%q gives no reason", line)
		}
		pattern, err := regexp.Compile("^(?:" + name + ")$")
		if err != nil {
			return nil, err
		}
		all = append(all, &allowance{line: line, pattern: pattern})
	}
	return all, nil
}

// report copies the events of in to out as text, without the output of tests that
// passed, and returns what must not be.
func report(in io.Reader, out io.Writer, allowed []*allowance) (problems []string, err error) {
	type test struct{ pkg, name string }
	said := map[test]string{} // by tests that have not ended
	skipped := 0
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var e event
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			fmt.Fprintln(out, scanner.Text()) // of make or of the compiler
			continue
		}
		t := test{e.Package, e.Test}
		switch {
		case e.Action == "build-output" || e.Action == "output" && e.Test == "":
			if e.Output != "PASS\n" {
				fmt.Fprint(out, e.Output)
			}
		case e.Action == "output" && !strings.HasPrefix(e.Output, "=== RUN"):
			said[t] += e.Output
		case e.Action == "fail" && e.Test == "":
			problems = append(problems, e.Package+" failed")
			for of, text := range said { // a crash ends tests without a word
				if of.pkg == e.Package {
					fmt.Fprint(out, text)
				}
			}
		case e.Action == "fail":
			fmt.Fprint(out, said[t])
		case e.Action == "skip" && e.Test != "":
			skipped++
			if !allow(allowed, e.Test) {
				problems = append(problems, fmt.Sprintf("%s: %s was skipped, and .ci/skips does not list it:\n%s", e.Package, e.Test, said[t]))
			}
		}
		switch e.Action {
		case "pass", "fail":
			allow(allowed, e.Test)
			delete(said, t)
		case "skip":
			delete(said, t)
		}
	}
	for _, a := range allowed {
		if !a.used {
			problems = append(problems, fmt.Sprintf("no test has the name of this line: %s", a.line))
		}
	}
	fmt.Fprintf(out, "%d tests skipped\n", skipped)
	return problems, scanner.Err()
}

// allow reports whether the test may be skipped, and notes that there is such a test.
func allow(allowed []*allowance, test string) bool {
	found := false
	for _, a := range allowed {
		if a.pattern.MatchString(test) {
			a.used, found = true, true
		}
	}
	return found
}
