package main

import (
	"fmt"
	"image"
	_ "image/png"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// likeness compares two pictures over the samples of R, G and B.
type likeness struct {
	psnr float64 // dB
	mean float64 // absolute difference, 0 to 255: Middlebury's interpolation error
}

// triplets measures every FAMILY/NAME in a directory and prints a table.
func (s *score) triplets(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*", "*", "gt.png"))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("%s: no FAMILY/NAME/gt.png", dir)
	}
	fmt.Println("| family | sequence | peer | PSNR | interpolation error |")
	fmt.Println("|---|---|---|---|---|")
	all := map[string]map[string][]likeness{} // by family and peer
	var families []string
	for _, gt := range found {
		at := filepath.Dir(gt)
		name, family := filepath.Base(at), filepath.Base(filepath.Dir(at))
		if all[family] == nil {
			all[family] = map[string][]likeness{}
			families = append(families, family)
		}
		for _, peer := range s.peers {
			l, err := s.triplet(at, peer)
			if err != nil {
				log.Printf("%s/%s: %s: %v", family, name, peer, err)
				continue
			}
			fmt.Printf("| %s | %s | %s | %.2f | %.3f |\n", family, name, peer, l.psnr, l.mean)
			all[family][peer] = append(all[family][peer], l)
		}
	}
	slices.Sort(families)
	for _, family := range families {
		for _, peer := range s.peers {
			var psnr, mean float64
			list := all[family][peer]
			for _, l := range list {
				psnr, mean = psnr+l.psnr/float64(len(list)), mean+l.mean/float64(len(list))
			}
			fmt.Printf("| %s | **mean of %d** | %s | %.2f | %.3f |\n", family, len(list), peer, psnr, mean)
		}
	}
	return nil
}

// triplet has a peer make the middle frame of the triplet in a directory.
func (s *score) triplet(dir, peer string) (likeness, error) {
	// minterpolate needs frames after the second.
	for i, name := range []string{"frame0.png", "frame1.png", "frame1.png", "frame1.png", "frame1.png"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.scratch, "in"+strconv.Itoa(i)+".png"), data, 0o600)
		}
		if err != nil {
			return likeness{}, err
		}
	}
	in, made, out := filepath.Join(s.scratch, "in%d.png"), filepath.Join(s.scratch, "made.nut"), filepath.Join(s.scratch, "made.png")
	if err := os.RemoveAll(out); err != nil {
		return likeness{}, err
	}
	middle := []string{"-fps_mode", "passthrough", "-frames:v", "1", out}
	if isRetime(peer) {
		two := filepath.Join(s.scratch, "two.nut")
		if _, err := ffmpeg("-framerate", "15", "-i", in, "-frames:v", "2", "-vf", "format=gbrp", "-c:v", "rawvideo", "-f", "nut", two); err != nil {
			return likeness{}, err
		}
		if _, err := s.retime(peer, two, made, "30"); err != nil {
			return likeness{}, err
		}
		if _, err := ffmpeg(append([]string{"-i", made, "-vf", "settb=1/30,select='eq(pts,1)',format=gbrp"}, middle...)...); err != nil {
			return likeness{}, err
		}
	} else {
		chain := "format=yuv444p,settb=1/30,setpts=2*N," + filter(peer, "30") + ":scd=none,select='eq(pts,1)',format=gbrp"
		if _, err := ffmpeg(append([]string{"-framerate", "15", "-i", in, "-vf", chain}, middle...)...); err != nil {
			return likeness{}, err
		}
	}
	return compare(out, filepath.Join(dir, "gt.png"))
}

// compare compares two PNG files of the same size.
func compare(made, truth string) (likeness, error) {
	a, err := open(made)
	if err != nil {
		return likeness{}, err
	}
	b, err := open(truth)
	if err != nil {
		return likeness{}, err
	}
	if a.Bounds() != b.Bounds() {
		return likeness{}, fmt.Errorf("%s has %v, %s has %v", made, a.Bounds(), truth, b.Bounds())
	}
	var squares, differences, samples float64
	for y := b.Bounds().Min.Y; y < b.Bounds().Max.Y; y++ {
		for x := b.Bounds().Min.X; x < b.Bounds().Max.X; x++ {
			r, g, bl, _ := a.At(x, y).RGBA()
			r2, g2, bl2, _ := b.At(x, y).RGBA()
			for _, d := range []int{int(r>>8) - int(r2>>8), int(g>>8) - int(g2>>8), int(bl>>8) - int(bl2>>8)} {
				squares += float64(d * d)
				differences += math.Abs(float64(d))
				samples++
			}
		}
	}
	return likeness{10 * math.Log10(255*255*samples/squares), differences / samples}, nil
}

func open(name string) (image.Image, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return img, nil
}
