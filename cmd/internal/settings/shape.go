package settings

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// go-yaml's parser takes memory that grows with the square of the depth, and of the number
// of keys in a mapping. These limits, and MaxBytes, lie far above what files of settings
// need.
const (
	maxDepth = 16
	maxKeys  = 256
)

// level is a mapping or a list that is open.
type level struct {
	flow   bool // in brackets or braces
	column int  // from 1; of a level that is not in brackets
	keys   int
}

// shape follows the nesting of a document from token to token.
type shape struct{ open []level }

// checkShape refuses tokens from which the parser would make a tree too deep or too wide,
// and those of YAML's features that no setting uses. An error begins with the line.
func checkShape(tokens token.Tokens) error {
	var s shape
	for _, t := range tokens {
		if err := s.add(t); err != nil {
			return fmt.Errorf("line %d: %w", t.Position.Line, err)
		}
	}
	return nil
}

func (s *shape) add(t *token.Token) error {
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		s.open = append(s.open, level{flow: true})
	case token.MappingEndType, token.SequenceEndType:
		s.leave()
	case token.SequenceEntryType:
		s.enter(t.Position.Column)
	case token.MappingValueType:
		column := t.Position.Column
		if t.Prev != nil && t.Prev.Position.Line == t.Position.Line {
			column = t.Prev.Position.Column
		}
		s.enter(column)
		top := &s.open[len(s.open)-1]
		if top.keys++; top.keys > maxKeys {
			return fmt.Errorf("more than %d names in one place", maxKeys)
		}
	case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.MappingKeyType, token.DirectiveType:
		return fmt.Errorf("%q: anchors, aliases, tags and directives have no place here; put quotes around a word that begins so", t.Value)
	}
	if len(s.open) > maxDepth {
		return fmt.Errorf("more than %d lists and mappings in one another", maxDepth)
	}
	return nil
}

// enter goes to the level of an entry that begins in a column, which may be a new level.
// Levels in brackets do not depend on columns.
func (s *shape) enter(column int) {
	for len(s.open) > 0 {
		top := s.open[len(s.open)-1]
		if top.flow || top.column == column {
			return
		}
		if top.column < column {
			break
		}
		s.open = s.open[:len(s.open)-1]
	}
	s.open = append(s.open, level{column: column})
}

// leave closes the innermost brackets, and what is open in them.
func (s *shape) leave() {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].flow {
			s.open = s.open[:i]
			return
		}
	}
}
