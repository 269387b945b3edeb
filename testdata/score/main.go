// Command score produces the figures of docs/quality.md: it leaves frames out, has retime and
// FFmpeg's minterpolate make them again, and compares the results with the frames that were shot.
//
//	go run ./testdata/score clips DIR
//	go run ./testdata/score triplets DIR
//	go run ./testdata/score speckle TRUTH MADE...
//	go run ./testdata/score -before PROGRAM pictures DIR OUT
//
// Clips are videos. A triplet is a directory FAMILY/NAME with frame0.png, gt.png and
// frame1.png; gt.png is the true frame halfway between the others. speckle counts
// lone wrong pixels in the odd frames of a video. pictures makes docs/pictures with an
// older release of retime, PROGRAM.
//
// It needs the programs ffmpeg and ffprobe.
package main

import (
	"flag"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	program := flag.String("retime", "bin/retime", "the `program` to measure")
	peers := flag.String("peers", "minterpolate,retime", "what makes the frames, between commas: retime with flags, or minterpolate=OPTIONS, "+
		`as in "retime --preset best" and "minterpolate=mi_mode=blend:scd=none"`)
	before := flag.String("before", "", "an older `program` of retime, for pictures")
	frames := flag.Int("frames", 60, "how many frames of each clip are used")
	keep := flag.String("keep", "", "keep the true and the made frames of clips in this `directory`")
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	scratch, err := os.MkdirTemp("", "score-")
	if err != nil {
		log.Fatal(err)
	}
	s := score{program: *program, before: *before, peers: strings.Split(*peers, ","), frames: *frames, keep: *keep, scratch: scratch}
	switch verb := flag.Arg(0); {
	case verb == "clips" && flag.NArg() == 2:
		err = s.clips(flag.Arg(1))
	case verb == "triplets" && flag.NArg() == 2:
		err = s.triplets(flag.Arg(1))
	case verb == "speckle" && flag.NArg() > 2:
		err = speckle(flag.Arg(1), flag.Args()[2:])
	case verb == "pictures" && flag.NArg() == 3 && *before != "":
		err = s.pictures(flag.Arg(1), flag.Arg(2))
	default:
		flag.Usage()
	}
	_ = os.RemoveAll(scratch)
	if err != nil {
		log.Fatal(err)
	}
}

// score holds the programs to measure and where to put their output.
type score struct {
	program string
	before  string // an older program
	peers   []string
	frames  int
	keep    string
	scratch string
}

// effort is the time that a peer took.
type effort struct{ wall, cpu time.Duration }

// retime runs the program with a peer's flags.
func (s *score) retime(peer, in, out, rate string) (effort, error) {
	return retime(s.program, peer, in, out, rate)
}

func retime(program, peer, in, out, rate string) (effort, error) {
	args := []string{in, "-o", out, "--fps", rate, "--vcodec", "rawvideo", "-y", "--progress", "none"}
	return timed(exec.Command(program, append(args, strings.Fields(peer)[1:]...)...))
}

// filter returns the minterpolate filter of a peer at an output rate.
func filter(peer, rate string) string {
	options := "mi_mode=mci:mc_mode=obmc"
	if _, o, ok := strings.Cut(peer, "="); ok {
		options = o
	}
	return "minterpolate=fps=" + rate + ":" + options
}

// isRetime reports whether a peer is retime with flags.
func isRetime(peer string) bool { return strings.HasPrefix(peer, "retime") }
