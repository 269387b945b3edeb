//go:build unix

package cuda_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/flow"
	"retime/warp"
)

// onBuffers uploads values to buffers, queues work on them, and reads them back.
func onBuffers[A, B, C, D any](t *testing.T, d *cuda.Device, a []A, b []B, c []C, e []D, queue func(s *cuda.Stream, args [4]cuda.Arg) error) {
	t.Helper()
	s, err := d.NewStream()
	must(t, err)
	defer s.Close()
	var ba cuda.Buffer[A]
	var bb cuda.Buffer[B]
	var bc cuda.Buffer[C]
	var bd cuda.Buffer[D]
	defer ba.Free()
	defer bb.Free()
	defer bc.Free()
	defer bd.Free()
	must(t, errors.Join(ba.Resize(d, len(a)), bb.Resize(d, len(b)), bc.Resize(d, len(c)), bd.Resize(d, len(e))))
	must(t, errors.Join(ba.Upload(s, a), bb.Upload(s, b), bc.Upload(s, c), bd.Upload(s, e)))
	must(t, queue(s, [4]cuda.Arg{ba.Arg(), bb.Arg(), bc.Arg(), bd.Arg()}))
	must(t, errors.Join(ba.Download(s, a), bb.Download(s, b), bc.Download(s, c), bd.Download(s, e)))
	must(t, s.Synchronize())
}

// Sums of splatted motions that exceed 64 bits have carries. The sums begin so close to that limit
// that many exceed it. Exact.
func TestSplatCarries(t *testing.T) {
	const seed, width, height, bias, phase = 31, 75, 41, 1 << 20, 30000
	t.Logf("seed %d", seed)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		kernel, err := d.Kernel("splat", "splat_flow")
		must(t, err)
		for _, gathered := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(seed, 0))
			flows, trust := make([]flow.Vec, width*height), make([]uint16, width*height)
			sums, carries := make([]uint64, 3*width*height), make([]uint32, 2*width*height)
			want := make([]*big.Int, len(sums))
			for i := range sums {
				if i >= width*height { // weights never exceed 64 bits
					sums[i] = ^uint64(0) - rng.Uint64()>>(10+rng.IntN(40))
				}
				want[i] = new(big.Int).SetUint64(sums[i])
			}
			for i := range flows {
				x, y := i%width, i/width
				flows[i] = flow.Vec{X: int32(rng.IntN(2*bias) - bias), Y: int32(rng.IntN(4001) - 2000)}
				if gathered { // all in one place, with a few exceptions
					flows[i] = flow.Vec{X: int32((width/2 - x) * flow.One * 65536 / phase), Y: int32((height/2-y)*flow.One*65536/phase + rng.IntN(8))}
				}
				trust[i] = uint16(rng.IntN(4097))
				toward := func(v int32) int { return (int(v)*phase + 1<<15) >> 16 }
				px, py := x*flow.One+toward(flows[i].X), y*flow.One+toward(flows[i].Y)
				for corner := range 4 {
					cx, cy := px>>8+corner&1, py>>8+corner>>1
					fx, fy := px&255, py&255
					if corner&1 == 0 {
						fx = 256 - fx
					}
					if corner>>1 == 0 {
						fy = 256 - fy
					}
					if cx < 0 || cy < 0 || cx >= width || cy >= height {
						continue
					}
					weight := int64(trust[i]) * int64(fx*fy)
					for n, v := range [3]int64{1, int64(flows[i].X) + bias, int64(flows[i].Y) + bias} {
						at := want[n*width*height+cy*width+cx]
						at.Add(at, big.NewInt(weight*v))
					}
				}
			}
			onBuffers(t, d, flows, trust, sums, carries, func(s *cuda.Stream, a [4]cuda.Arg) error {
				const quantity = 40 * 24 * 8 // bytes of the window
				return s.Launch(kernel, cuda.Cover(width, height, cuda.Dim{X: 32, Y: 16, Z: 1}), cuda.Dim{X: 32, Y: 8, Z: 1}, 3*quantity,
					a[0], a[1], cuda.Int(1), a[2], a[3], cuda.Int(width), cuda.Int(height), cuda.Int(phase), cuda.Int(bias))
			})
			carried := 0
			for i, sum := range sums {
				got := new(big.Int).SetUint64(sum)
				if i >= width*height {
					carry := carries[i-width*height]
					got.Add(got, new(big.Int).Lsh(big.NewInt(int64(carry)), 64))
					if carry > 0 {
						carried++
					}
				}
				if got.Cmp(want[i]) != 0 {
					t.Fatalf("gathered %v: sum %d is %v, want %v", gathered, i, got, want[i])
				}
			}
			if carried == 0 {
				t.Errorf("gathered %v: no sum exceeds 64 bits", gathered)
			}
		}
	})
}

// Motions are the means of the sums, rounded to the nearest with ties away from zero, for means and
// weights of any size. Exact.
func TestArrivingMotions(t *testing.T) {
	const seed, width, height, flows = 32, 67, 75, 2
	t.Logf("seed %d", seed)
	least := warp.Constants().LeastTrust
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		kernel, err := d.Kernel("arrive", "arrive_flow")
		must(t, err)
		for _, bias := range []int64{1 << 16, 1 << 21, 1 << 29} {
			rng := rand.New(rand.NewPCG(seed, uint64(bias)))
			const pixels = width * height
			sums, carries := make([]uint64, 3*flows*pixels), make([]uint32, 2*flows*pixels)
			motions, want := make([]flow.Vec, flows*pixels), make([]flow.Vec, flows*pixels)
			known, gone := make([]bool, flows*pixels), [flows]uint64{}
			for i := range motions {
				z, at := i/pixels, i%pixels
				motions[i] = flow.Vec{X: 11, Y: 22} // the motions of holes do not change
				want[i] = motions[i]
				weight := int64(rng.Uint64() >> (24 + rng.IntN(40)))
				switch rng.IntN(6) {
				case 0:
					weight = 0
				case 1: // whole pixels with full trust, which often tie
					weight = int64(1+rng.IntN(4)) << 28
				case 2:
					weight = 1<<(31+rng.IntN(2)) - 1 + int64(rng.IntN(3))
				}
				known[i] = weight >= int64(least)
				var means [2]int64
				for n := range means {
					mean := rng.Int64N(2*bias+1) - bias
					if rng.IntN(2) == 0 {
						mean >>= rng.IntN(30)
					}
					rest := int64(0) // of the sum beyond the mean's: at most half the weight
					if weight > 0 && mean > -bias && mean < bias {
						rest = []int64{weight / 2, -(weight / 2), rng.Int64N(weight/2+1) - weight/4}[rng.IntN(3)]
					}
					sum := new(big.Int).Mul(big.NewInt(weight), big.NewInt(mean))
					sum.Add(sum, big.NewInt(rest))
					means[n] = nearestQuotient(sum, weight)
					sum.Add(sum, new(big.Int).Mul(big.NewInt(weight), big.NewInt(bias)))
					sums[(3*z+1+n)*pixels+at] = new(big.Int).And(sum, new(big.Int).SetUint64(^uint64(0))).Uint64()
					carries[(2*z+n)*pixels+at] = uint32(new(big.Int).Rsh(sum, 64).Uint64())
				}
				sums[3*z*pixels+at] = uint64(weight)
				if !known[i] {
					gone[z]++
					continue
				}
				sign := int64(1 - 2*(z%2)) // the second flow leads backward
				want[i] = flow.Vec{X: int32(sign * means[0]), Y: int32(sign * means[1])}
			}
			holes := [flows]uint64{}
			s, err := d.NewStream()
			must(t, err)
			defer s.Close()
			var counts cuda.Buffer[uint64]
			defer counts.Free()
			must(t, counts.Resize(d, flows))
			must(t, counts.Clear(s))
			must(t, s.Synchronize())
			const lines = (height + 31) / 32
			bits := make([]uint32, flows*lines*width)
			onBuffers(t, d, sums, carries, motions, bits, func(s *cuda.Stream, a [4]cuda.Arg) error {
				grid := cuda.Cover(width, height, cuda.Dim{X: 32, Y: 32, Z: 1})
				grid.Z = flows
				return s.Launch(kernel, grid, cuda.Dim{X: 32, Y: 8, Z: 1}, 0, a[0], a[1], a[2], a[3], counts.Arg(),
					cuda.Int(width), cuda.Int(height), cuda.Long(int64(least)), cuda.Int(int(bias)))
			})
			must(t, counts.Download(s, holes[:]))
			must(t, s.Synchronize())
			if holes != gone {
				t.Errorf("bias %d: %d holes, want %d", bias, holes, gone)
			}
			for i, m := range motions {
				z, x, y := i/pixels, i%width, i%pixels/width
				if m != want[i] {
					t.Fatalf("bias %d, flow %d: the motion at (%d, %d) is %v, want %v", bias, z, x, y, m, want[i])
				}
				if got := bits[(z*lines+y/32)*width+x]>>(y%32)&1 == 1; got != known[i] {
					t.Fatalf("bias %d, flow %d: (%d, %d) is known: %v", bias, z, x, y, got)
				}
			}
			for i, sum := range sums {
				if sum != 0 {
					t.Fatalf("bias %d: sum %d is %d afterwards", bias, i, sum)
				}
			}
		}
	})
}

// nearestQuotient returns sum/weight to the nearest, ties away from zero, or 0 without a weight.
func nearestQuotient(sum *big.Int, weight int64) int64 {
	if weight == 0 {
		return 0
	}
	twice := new(big.Int).Abs(sum)
	twice.Lsh(twice, 1).Add(twice, big.NewInt(weight))
	twice.Quo(twice, big.NewInt(2*weight))
	return twice.Int64() * int64(sum.Sign())
}
