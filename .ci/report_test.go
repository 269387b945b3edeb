package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	const in = `go vet ./...
{"Action":"start","Package":"a"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"noise\n"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestGPU/one","Output":"=== RUN   TestGPU/one\n"}
{"Action":"output","Package":"a","Test":"TestGPU/one","Output":"no GPU\n"}
{"Action":"skip","Package":"a","Test":"TestGPU/one"}
{"Action":"pass","Package":"a","Test":"TestGPU"}
{"Action":"output","Package":"a","Test":"TestQuiet","Output":"no such program\n"}
{"Action":"skip","Package":"a","Test":"TestQuiet"}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"output","Package":"a","Output":"ok  \ta\t0.1s\n"}
{"Action":"pass","Package":"a"}
{"Action":"skip","Package":"without tests"}
{"ImportPath":"b","Action":"build-output","Output":"b.go:1: undefined\n"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"wrong\n"}
{"Action":"fail","Package":"b","Test":"TestBad"}
{"Action":"output","Package":"b","Test":"TestCrash","Output":"panic\n"}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.1s\n"}
{"Action":"fail","Package":"b"}
`
	for _, c := range []struct {
		list     string
		problems []string
	}{
		{"TestGPU/.* needs a GPU\n# TestX y\n\nTestQuiet needs a program\n", []string{"b failed"}},
		{"TestGPU/.* needs a GPU", []string{"a: TestQuiet was skipped, and .ci/skips does not list it:\nno such program\n", "b failed"}},
		{"TestGPU/.* needs a GPU\nQuiet part of a name", []string{"a: TestQuiet was skipped, and .ci/skips does not list it:\nno such program\n", "b failed", "no test has the name of this line: Quiet part of a name"}},
		{"Test.* all", []string{"b failed"}},
	} {
		allowed, err := parseSkips(c.list)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		problems, err := report(strings.NewReader(in), &out, allowed)
		if err != nil || strings.Join(problems, "|") != strings.Join(c.problems, "|") {
			t.Errorf("with %q: %q, %v", c.list, problems, err)
		}
		const want = "go vet ./...\nok  \ta\t0.1s\nb.go:1: undefined\nwrong\nFAIL\tb\t0.1s\npanic\n2 tests skipped\n"
		if out.String() != want {
			t.Errorf("printed %q", out.String())
		}
	}
	for _, list := range []string{"TestX", "TestX ", "Test( open"} {
		if _, err := parseSkips(list); err == nil {
			t.Errorf("%q is taken", list)
		}
	}
}
