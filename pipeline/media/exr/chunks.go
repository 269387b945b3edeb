package exr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
)

// ErrIncomplete is wrapped by errors about files of which a part was never written, or is lost.
var ErrIncomplete = errors.New("the picture is incomplete")

// linesOf are the lines of a chunk, by the compression; of those that are missing we know nothing.
var linesOf = []int{1, 1, 1, 16, 32, 16, 32, 32, 32, 256}

// table is a part's table of chunks.
type table struct {
	chunks int
	head   int // bytes of a chunk before its sizes
	deep   bool
}

// CheckComplete returns an error that wraps ErrIncomplete if a chunk of the file is missing, as in one whose writer was killed
// ("OpenEXR File Layout", "Offset Tables" and "Components Two: Pixel Data"). Headers that it does not understand are no error.
func CheckComplete(file []byte) error {
	r := reader{file}
	parts, flags, err := r.headers()
	if err != nil {
		return nil
	}
	tables := make([]table, len(parts))
	for i, p := range parts {
		var ok bool
		if tables[i], ok = tableOf(p, flags); !ok {
			return nil
		}
	}
	offsets := r.rest
	for i, t := range tables {
		for k := range t.chunks {
			if len(offsets) < 8 || !t.holds(file, binary.LittleEndian.Uint64(offsets)) {
				return fmt.Errorf("exr: %w: part %d lacks chunk %d of %d", ErrIncomplete, i, k+1, t.chunks)
			}
			offsets = offsets[8:]
		}
	}
	return nil
}

// holds reports whether a file has all of the chunk at an offset.
func (t *table) holds(file []byte, offset uint64) bool {
	sizes, width := 1, 4
	if t.deep {
		sizes, width = 2, 8
	}
	if offset == 0 || offset > uint64(len(file)) {
		return false
	}
	chunk := file[offset:]
	if len(chunk) < t.head+sizes*width {
		return false
	}
	chunk = chunk[t.head:]
	rest := uint64(len(chunk))
	if t.deep {
		rest -= min(rest, 24) // the third size is that of data that is not compressed
	} else {
		rest -= 4
	}
	for range sizes {
		size := uint64(binary.LittleEndian.Uint32(chunk))
		if t.deep {
			size = binary.LittleEndian.Uint64(chunk)
		}
		if size > rest {
			return false
		}
		rest -= size
		chunk = chunk[width:]
	}
	return true
}

// tableOf returns the table of a part with these attributes; ok is false if they do not tell.
func tableOf(attributes []attribute, f flags) (t table, ok bool) {
	var box image.Rectangle
	compression, count := -1, -1
	var tiles []byte
	for _, a := range attributes {
		switch a.name {
		case "chunkCount":
			if len(a.value) == 4 {
				count = int(binary.LittleEndian.Uint32(a.value))
			}
		case "compression":
			if len(a.value) == 1 {
				compression = int(a.value[0])
			}
		case "dataWindow":
			box = window(a.value)
		case "tiles":
			tiles = a.value
		}
	}
	tiled, deep := f.kind(attributes)
	t.deep = deep
	t.head = 4 // the first line
	if tiled {
		t.head = 16 // the tile's place and level
	}
	if f&multipart != 0 {
		t.head += 4 // the part's number
	}
	switch {
	case box.Empty():
		return t, false
	case count >= 0 && f&(multipart|nonImage) != 0: // readers go by it there alone
		t.chunks = count
	case tiled:
		t.chunks, ok = tilesOf(tiles, box.Size())
		return t, ok
	case compression < 0 || compression >= len(linesOf):
		return t, false
	default:
		t.chunks = (box.Dy() + linesOf[compression] - 1) / linesOf[compression]
	}
	return t, true
}

// tilesOf returns how many tiles a window of a size has in all levels, as the attribute tiles divides it.
func tilesOf(value []byte, size image.Point) (count int, ok bool) {
	if len(value) != 9 {
		return 0, false
	}
	width, height := int(binary.LittleEndian.Uint32(value)), int(binary.LittleEndian.Uint32(value[4:]))
	mode, up := value[8]&15, value[8]>>4 == 1
	if width < 1 || height < 1 || width > largestSide || height > largestSide || mode > 2 {
		return 0, false
	}
	halved := func(n int) []int {
		sides := []int{n}
		for ; n > 1 && mode > 0; sides = append(sides, n) {
			if up {
				n++
			}
			n /= 2
		}
		return sides
	}
	across, down := halved(size.X), halved(size.Y)
	tiles := func(i, j int) int {
		w, h := across[min(i, len(across)-1)], down[min(j, len(down)-1)]
		return ((w + width - 1) / width) * ((h + height - 1) / height)
	}
	for j := range down {
		for i := range across {
			if mode == 2 || i == j {
				count += tiles(i, j)
			}
		}
	}
	if mode == 1 { // levels of which one side is 1 already
		for l := min(len(across), len(down)); l < max(len(across), len(down)); l++ {
			count += tiles(l, l)
		}
	}
	return count, true
}
