package review

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"retime/cmd/internal/review/edits"
	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/pipeline/restore"
)

// repairItem is a finding, and whether somebody has rejected it.
type repairItem struct {
	restore.Finding
	rejected bool
}

// restores reports whether the finding is obeyed.
func (i *repairItem) restores() bool { return !i.rejected && i.Repaired() }

// rejectedMark precedes the line of a finding that somebody has rejected, which restore takes for a comment.
const rejectedMark = "# rejected: "

// maxRepairList bounds the size of a list, in bytes.
const maxRepairList = 64 << 20

// parseRepairs reads a list, the findings that are commented out as rejected included.
func parseRepairs(text []byte) (items []repairItem, err error) {
	if _, err := restore.ParseList(bytes.NewReader(text)); err != nil {
		return nil, err // it names the line
	}
	for line := range strings.Lines(string(text)) {
		line, rejected := strings.CutPrefix(strings.TrimSpace(line), rejectedMark)
		found, err := restore.ParseList(strings.NewReader(line))
		if err != nil || len(found) == 0 {
			continue // a comment
		}
		f := found[0]
		if _, count, ok := strings.Cut(line, "# insert="); ok && f.Insert == 0 {
			f.Missing, _ = strconv.Atoi(strings.TrimSpace(count))
		}
		items = append(items, repairItem{f, rejected})
	}
	return items, nil
}

// parseRegions reads rectangles, as a list has them, with spaces between them; none is all of the picture.
func parseRegions(text string) (regions []*restore.Region, err error) {
	for _, r := range strings.Fields(text) {
		found, err := restore.ParseRegion(r + "@0") // in any frame
		if err != nil {
			return nil, fault.New(fault.Usage, "parts %.80q: want x,y,w,h in pixels, with spaces between parts", text)
		}
		regions = append(regions, found.Regions...)
	}
	return regions, nil
}

// formatRepairs returns the list that parseRepairs reads.
func formatRepairs(items []repairItem) []byte {
	var b bytes.Buffer
	b.WriteString(restore.ListHeader)
	for _, i := range items {
		if i.rejected {
			b.WriteString(rejectedMark)
		}
		fmt.Fprintln(&b, i.Finding)
	}
	return b.Bytes()
}

// readRepairs reads a list from its file.
func readRepairs(name string) (text []byte, items []repairItem, err error) {
	text, err = plainfile.Read(name, maxRepairList)
	if err != nil {
		if _, stat := os.Stat(name); os.IsNotExist(stat) {
			err = fault.New(fault.NoInput, "list %q: there is none; retime restore INPUT --detect --dry-run --write-list %s finds the damage", name, name)
		}
		return nil, nil, err
	}
	if items, err = parseRepairs(text); err != nil {
		return nil, nil, fault.New(fault.KindOf(err), "list %q: %w", name, err)
	}
	return text, items, nil
}

// repairStore keeps a list in its file. The caller sees to it that one goroutine at a time uses it.
type repairStore struct {
	name    string
	input   *restore.Preview // what all items fit
	written []byte           // what the file holds
	items   []repairItem
	undo    [][]repairItem
	version int64
}

func (s *repairStore) load() error {
	text, items, err := readRepairs(s.name)
	if err != nil {
		return err
	}
	for _, i := range items {
		if _, err := s.input.Resolve(i.Finding); err != nil {
			return fault.New(fault.KindOf(err), "list %q: %w", s.name, err)
		}
	}
	s.written, s.items, s.undo = text, items, nil
	s.version++
	return nil
}

// save replaces the items and writes them, unless somebody else has changed the file.
func (s *repairStore) save(items []repairItem) error {
	if now, err := plainfile.Read(s.name, maxRepairList); err != nil || !bytes.Equal(now, s.written) {
		return fault.New(fault.TryAgain, "%q %w", s.name, edits.ErrElsewhere)
	}
	text := formatRepairs(items)
	if err := atomicfile.WriteFile(s.name, true, text); err != nil {
		return fault.New(fault.CannotWrite, "list %q: %w", s.name, err)
	}
	s.items, s.written = items, text
	s.version++
	return nil
}

// do changes an item in one way.
func (s *repairStore) do(e *repairEdit) error {
	switch e.Do {
	case "reload":
		return s.load()
	case "undo":
		if len(s.undo) == 0 {
			return nil
		}
		last := len(s.undo) - 1
		err := s.save(s.undo[last])
		if err == nil {
			s.undo = s.undo[:last]
		}
		return err
	}
	if e.Index < 0 || e.Index >= len(s.items) {
		return fault.New(fault.Usage, "there is no finding %d", e.Index)
	}
	before, items := s.items, slices.Clone(s.items)
	i := &items[e.Index]
	switch e.Do {
	case "accept":
		if i.rejected = false; !i.Repaired() && i.Missing > 0 {
			i.Insert, i.Missing = i.Missing, 0
		}
	case "reject":
		i.rejected = true
	case "kind":
		if i.Kind = restore.Kind(e.Value); !slices.Contains(restore.Kinds(), i.Kind) {
			return fault.New(fault.Usage, "there is no kind %.40q", e.Value)
		}
	case "method":
		i.Method = pipeline.Method(e.Value)
	case "regions":
		regions, err := parseRegions(e.Value)
		if err != nil {
			return err
		}
		i.Regions = regions
	default:
		return fault.New(fault.Usage, "there is no edit %.40q", e.Do)
	}
	if _, err := restore.ParseList(strings.NewReader(i.String())); err != nil {
		return fault.New(fault.Usage, "%w", err)
	}
	if _, err := s.input.Resolve(i.Finding); err != nil {
		return err
	}
	err := s.save(items)
	if err == nil {
		s.undo = append(s.undo, before)
	}
	return err
}
