// Command simulate computes how long a film takes on 1 to 256 machines that fail now and then. Its
// machines get the shares that the farm would hand out, and take as long for a range as a measured
// one took.
//
//	go run ./simulate [--hours 2] [--segment-seconds 5] [--between 4h] [--times testdata/segments.txt]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	hours := flag.Float64("hours", 2, "length of the film")
	between := flag.Duration("between", 4*time.Hour, "mean time between the failures of a machine")
	file := flag.String("times", "testdata/segments.txt", "file with the processor seconds of measured one-second ranges, one per line")
	length := flag.Int("segment-seconds", 5, "length of a range")
	alone := flag.Duration("alone", time.Minute, "time in which one machine plans, verifies and ends the join")
	flag.Parse()
	times, err := read(*file)
	if err != nil {
		log.Fatal(err)
	}
	f := film{ranges: int(*hours*3600) / *length, length: *length, times: times, start: 0.3, dead: 30, restart: 60, between: between.Seconds()}
	fmt.Println("| machines | fastest to slowest | time of the segments | failures | efficiency | of the whole job |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, spread := range []float64{1, 2} {
		for n := 1; n <= 256; n *= 2 {
			f.spread = spread
			r := f.run(n, rand.New(rand.NewPCG(1, uint64(n))))
			whole := r.efficiency * r.seconds / (r.seconds + alone.Seconds())
			fmt.Printf("| %d | %.0f | %v | %d | %.3f | %.3f |\n", n, spread, time.Duration(r.seconds)*time.Second, r.failures, r.efficiency, whole)
		}
	}
}

// read reads numbers, one per line, and skips comment lines.
func read(name string) (all []float64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, v)
	}
	return all, lines.Err()
}
