package smartcopy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"retime/pipeline/media/nalunit"
)

// bitString returns b as a string of ones and zeros. pack is its inverse.
func bitString(b []byte) string {
	var s strings.Builder
	for _, v := range b {
		fmt.Fprintf(&s, "%08b", v)
	}
	return s.String()
}

func pack(s string) []byte {
	out := make([]byte, (len(s)+7)/8)
	for i, c := range s {
		if c == '1' {
			out[i/8] |= 0x80 >> (i % 8)
		}
	}
	return out
}

// code returns the Exp-Golomb code of v.
func code(v uint) string {
	s := fmt.Sprintf("%b", v+1)
	return strings.Repeat("0", len(s)-1) + s
}

func randomBits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0001"[r.IntN(4)] // many zeros, to need escapes
	}
	return string(b)
}

// renumber replaces the numbers in every NAL unit and keeps all other bits.
func TestRenumber(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	const header = "011" // forbidden_zero_bit and nal_ref_idc
	kind := func(hevc bool, k int) string {
		if hevc {
			return fmt.Sprintf("0%06b000000001", k)
		}
		return header + fmt.Sprintf("%05b", k)
	}
	for range 200 {
		to := setNumbers{uint(random.IntN(16)), uint(random.IntN(16)), uint(15 + random.IntN(16))}
		v4 := fmt.Sprintf("%04b", to.vps)
		first, slice := code(uint(random.IntN(9000))), code(uint(random.IntN(10)))
		profile := "000" + "1" + randomBits(random, 96)
		// Two layers; the lower one has both a profile and a level.
		layered := "001" + "1" + randomBits(random, 96) + "11" + strings.Repeat("0", 14) + randomBits(random, 96)
		rest := randomBits(random, 40+random.IntN(900))
		for _, c := range []struct {
			hevc      bool
			kind      int
			old, want string
			set       bool
		}{
			{false, avcSPS, strings.Repeat("1", 24) + "1", strings.Repeat("1", 24) + code(to.sps), true},
			{false, avcPPS, "11", code(to.pps) + code(to.sps), true},
			{false, avcIDR, first + slice + "1", first + slice + code(to.pps), false},
			{false, avcSlice, first + slice + "1", first + slice + code(to.pps), false},
			{true, hevcVPS, "0000", v4, true},
			{true, hevcSPS, "0000" + profile + "1", v4 + profile + code(to.sps), true},
			{true, hevcSPS, "0000" + layered + "1", v4 + layered + code(to.sps), true},
			{true, hevcPPS, "11", code(to.pps) + code(to.sps), true},
			{true, 1, "11", "1" + code(to.pps), false},
			{true, hevcIDRRADL, "101", "10" + code(to.pps), false},
		} {
			tail := rest + "1"
			if !c.set {
				tail += strings.Repeat("0", (-len(kind(c.hevc, c.kind)+c.old+tail)%8+8)%8) // CABAC data starts at a byte boundary
			}
			in := nalunit.Escape(pack(kind(c.hevc, c.kind) + c.old + tail))
			got, err := renumber(c.hevc, in, to)
			want := nalunit.Escape(pack(kind(c.hevc, c.kind) + c.want + tail))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("hevc %v, kind %d, %+v: %v\n%s, want\n%s", c.hevc, c.kind, to, err, bitString(got), bitString(want))
			}
			if c.set {
				n, err := numberOf(c.hevc, got)
				if want := map[bool]uint{true: to.sps, false: to.pps}[c.kind == avcSPS || c.kind == hevcSPS]; err != nil || c.kind != hevcVPS && n != want {
					t.Errorf("hevc %v, kind %d: number %d, want %d: %v", c.hevc, c.kind, n, want, err)
				}
			}
		}
	}
	if _, err := renumber(false, pack(kind(false, avcPPS)+"01011111"), setNumbers{pps: 15}); err == nil {
		t.Error("a set of number 1 is taken for number 0")
	}
	if _, err := renumber(true, []byte{1 << 1, 1, 0}, setNumbers{pps: 15}); err == nil {
		t.Error("a slice without its number is accepted")
	}
	other := []byte{6, 1, 2, 3}
	if got, err := renumber(false, other, setNumbers{pps: 15}); err != nil || !bytes.Equal(got, other) {
		t.Errorf("a message becomes %v: %v", got, err)
	}
}

// joinSets finds free numbers, and finds the same numbers again for the same sets.
func TestJoinSets(t *testing.T) {
	sps := pack("01100111" + strings.Repeat("01100100", 3) + "1" + "110101" + "1")
	pps := pack("01101000" + "11" + "0101" + "1")
	have := [][]byte{sps, pps}
	var last setNumbers
	for round := range 4 {
		joining := [][]byte{sps, bytes.Clone(pps)}
		joining[1][1] ^= byte(round) << 2 // a different set each time
		to, sets, added, err := joinSets(false, have, joining)
		if err != nil || len(sets) != 2 || len(added) != 2 || to == last {
			t.Fatalf("round %d: %+v, %d sets, %d added: %v", round, to, len(sets), len(added), err)
		}
		have, last = append(have, added...), to
		again, _, added, err := joinSets(false, have, joining)
		if err != nil || again != to || len(added) != 0 {
			t.Errorf("round %d: joined again as %+v, %d added: %v", round, again, len(added), err)
		}
	}
	for err := error(nil); err == nil; {
		var added [][]byte
		if _, _, added, err = joinSets(false, have, [][]byte{sps, pack("01101000" + "11" + randomBits(rand.New(rand.NewPCG(uint64(len(have)), 5)), 300) + "1")}); len(have) > 64 {
			t.Fatal("numbers never end")
		}
		have = append(have, added...)
	}
}

// A configuration with added sets has the added sets and all of its own.
func TestDecoderConfig(t *testing.T) {
	sps, pps := []byte{0x67, 100, 0, 30, 0xac}, []byte{0x68, 0xee}
	avc := append(appendSets([]byte{1, 100, 0, 30, 0xff, 0xe1}, [][]byte{sps}), appendSets([]byte{1}, [][]byte{pps})...)
	avc = append(avc, 0xfd, 0xf8, 0xf8, 0)
	c, err := parseConfig(false, avc)
	if err != nil || c.length != 4 || len(c.sets) != 2 {
		t.Fatalf("%+v: %v", c, err)
	}
	if got, err := c.with(nil); err != nil || !bytes.Equal(got, avc) {
		t.Errorf("%x becomes %x: %v", avc, got, err)
	}
	higher := []byte{0x67, 77, 0, 41, 0xac}
	got, err := c.with([][]byte{higher, {0x68, 0x11}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseConfig(false, got)
	if err != nil || len(again.sets) != 4 || got[3] != 41 || !bytes.Equal(again.sets[1], higher) || !bytes.Equal(again.tail, c.tail) {
		t.Errorf("%+v: %v", again, err)
	}
	if _, err := c.with([][]byte{{0x67, 110, 0, 30, 0xac}}); err == nil {
		t.Error("a higher profile is accepted")
	}
	for n := range len(avc) - 4 {
		if c, err := parseConfig(false, avc[:n]); err == nil && n > 0 && c.length > 0 {
			t.Errorf("the first %d of %d bytes are accepted", n, len(avc))
		}
	}

	head := append([]byte{1, 1}, make([]byte, 20)...)
	head[12], head[21] = 60, 3
	hvc := append(bytes.Clone(head), 2)
	hvc = appendSets(append(hvc, 0xa1, 0, 1), [][]byte{{33 << 1, 1, 0, 0}})
	hvc = appendSets(append(hvc, 0xa2, 0, 1), [][]byte{{34 << 1, 1, 0}})
	if c, err = parseConfig(true, hvc); err != nil || len(c.sets) != 2 {
		t.Fatalf("%+v: %v", c, err)
	}
	if got, err := c.with(nil); err != nil || !bytes.Equal(got, hvc) {
		t.Errorf("%x becomes %x: %v", hvc, got, err)
	}
	added := append([]byte{33 << 1, 1, 0x0f, 1}, bytes.Repeat([]byte{7}, 14)...)
	added[14] = 93
	if got, err = c.with([][]byte{added, {32 << 1, 1, 5}}); err != nil {
		t.Fatal(err)
	}
	if again, err = parseConfig(true, got); err != nil || len(again.sets) != 4 || got[12] != 93 || !bytes.Equal(again.sets[1], added) {
		t.Errorf("%+v: %v", again, err)
	}
}

func FuzzParameterSets(f *testing.F) {
	f.Add(false, []byte{1, 100, 0, 30, 0xff, 0xe1, 0, 5, 0x67, 100, 0, 30, 0xac, 1, 0, 2, 0x68, 0xee}, []byte{0x65, 0xb8, 1, 2, 3})
	f.Add(true, append(make([]byte, 22), 1, 0xa1, 0, 1, 0, 4, 66, 1, 0, 0), []byte{0, 0, 1, 38, 1, 0xe0, 0, 0, 3})
	f.Fuzz(func(t *testing.T, hevc bool, config, packet []byte) {
		c, err := parseConfig(hevc, config)
		if err != nil {
			return
		}
		nals, err := nalunit.Split(packet, c.length)
		if err != nil {
			return
		}
		restarts(hevc, nals)
		if _, _, added, err := joinSets(hevc, c.sets, nals); err == nil {
			_, _ = c.with(added)
		}
	})
}
