package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// killsEnv sets the number of kills in TestKills; without it, there are a few.
const killsEnv = "RETIME_FARM_KILLS"

// seedEnv replaces the seed 17, which determines what TestKills kills, and when.
const seedEnv = "RETIME_FARM_SEED"

// fromEnvironment returns the number in a variable, or usual if it is not set.
func fromEnvironment(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestKills kills workers, the server and the submitter at random moments of a conversion, restarts
// them, and compares the output with one machine's.
func TestKills(t *testing.T) {
	kills, seed := fromEnvironment(t, killsEnv, 4), fromEnvironment(t, seedEnv, 17)
	f := newFarm(t, retimeProgram(t))
	f.clip("in.mkv", 60)
	want := f.oneMachine("in.mkv", conversion...)
	request := f.submit(append([]string{"in.mkv", "-o", "out.mkv", "-q", "--heartbeat", "10s"}, conversion...)...)
	workers := make([]*process, 3)
	for i := range workers {
		workers[i] = f.worker(nil)
	}
	began := time.Now()
	if out, code := f.run(nil, request...); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	length := time.Since(began)
	check := func(what string) {
		t.Helper()
		f.left("in.mkv", "out.mkv")
		if f.contents("out.mkv") != want {
			t.Errorf("%s: the output is not one machine's", what)
		}
		if err := os.Remove(filepath.Join(f.dir, "out.mkv")); err != nil {
			t.Fatal(err)
		}
	}
	check("no kill")
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for done := 0; done < kills; {
		submitter := f.start(nil, f.program, append(request, "-y")...)
		last := false
		for n := 1 + random.IntN(3); n > 0 && done < kills && !last; n-- {
			moment := time.Duration(random.Int64N(int64(length)))
			select {
			case <-submitter.ended:
				last = true
				continue
			case <-time.After(moment):
			}
			done++
			switch i := random.IntN(len(workers) + 2); i {
			case len(workers):
				t.Logf("kill %d: the server", done)
				f.server.kill()
				f.serve(f.server.Path)
			case len(workers) + 1:
				t.Logf("kill %d: the submitter", done)
				submitter.kill()
				submitter = f.start(nil, f.program, append(request, "-y")...)
			default:
				t.Logf("kill %d: worker %d", done, i)
				workers[i].kill()
				workers[i] = f.worker(nil)
			}
		}
		if code := f.end(submitter); code != 0 {
			t.Fatalf("exit code %d: %s", code, submitter.output)
		}
		check(fmt.Sprintf("after kill %d", done))
	}
	t.Logf("%d kills; without any, a conversion took %v", kills, length)
}
