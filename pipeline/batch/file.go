package batch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Setting is a name of a job file with its values: one, or those of a list.
type Setting struct {
	Name   string
	Values []string
	List   bool
	Line   int // from 1
}

// Clip is an entry of a job file.
type Clip struct {
	Line int
	// Settings are the clip's own, and of the defaults those that it leaves out.
	Settings []Setting
}

// ParseFile reads a job file, YAML or JSON: a mapping of "defaults", which may be
// left out, and "clips", a list. Errors begin with the line that they are about.
func ParseFile(data []byte) ([]Clip, error) {
	file, err := parser.ParseBytes(data, 0)
	if e := (yaml.Error)(nil); errors.As(err, &e) {
		return nil, fmt.Errorf("line %d: %s", e.GetToken().Position.Line, e.GetMessage())
	} else if err != nil {
		return nil, err
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("line 1: want one document with clips")
	}
	top, err := mapping(file.Docs[0].Body, "clips, and perhaps defaults")
	if err != nil {
		return nil, err
	}
	var defaults []Setting
	var list *ast.SequenceNode
	for _, v := range top {
		line := v.Key.GetToken().Position.Line
		switch name := v.Key.GetToken().Value; name {
		case "defaults":
			if _, empty := v.Value.(*ast.NullNode); empty {
				continue
			}
			if defaults, err = settings(v.Value); err != nil {
				return nil, err
			}
		case "clips":
			var ok bool
			if list, ok = v.Value.(*ast.SequenceNode); !ok {
				return nil, fmt.Errorf("line %d: clips: want a list", line)
			}
		default:
			return nil, fmt.Errorf("line %d: no %q here; choose from clips, defaults", line, name)
		}
	}
	if list == nil || len(list.Values) == 0 {
		return nil, fmt.Errorf("line 1: no clips")
	}
	var clips []Clip
	for _, n := range list.Values {
		c := Clip{Line: n.GetToken().Position.Line}
		if c.Settings, err = settings(n); err != nil {
			return nil, err
		}
		if len(c.Settings) > 0 {
			c.Line = c.Settings[0].Line
		}
		for _, d := range defaults {
			if !slices.ContainsFunc(c.Settings, func(s Setting) bool { return s.Name == d.Name }) {
				c.Settings = append(c.Settings, d)
			}
		}
		clips = append(clips, c)
	}
	return clips, nil
}

// mapping returns n's entries; want says what they should be.
func mapping(n ast.Node, want string) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, fmt.Errorf("line %d: want %s", n.GetToken().Position.Line, want)
}

func settings(n ast.Node) ([]Setting, error) {
	values, err := mapping(n, "settings as name: value")
	if err != nil {
		return nil, err
	}
	var all []Setting
	for _, v := range values {
		key := v.Key.GetToken()
		s := Setting{Name: key.Value, Line: key.Position.Line}
		items := []ast.Node{v.Value}
		if list, ok := v.Value.(*ast.SequenceNode); ok {
			items, s.List = list.Values, true
		}
		for _, item := range items {
			value, ok := scalar(item)
			if !ok {
				return nil, fmt.Errorf("line %d: %s: want a word, a number or a list of them", s.Line, s.Name)
			}
			s.Values = append(s.Values, value)
		}
		if slices.ContainsFunc(all, func(o Setting) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("line %d: %s is given twice", s.Line, s.Name)
		}
		all = append(all, s)
	}
	return all, nil
}

func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true // as it was written: 23.976 stays that
	}
	return "", false
}
