package emit

import (
	"bytes"
	"fmt"
	"strings"
)

// The report is between these lines of a document.
const (
	reportBegins = "<!-- The compiler writes this table. -->\n"
	reportEnds   = "<!-- End of the table. -->\n"
)

// Report returns the document with the table of the programs' costs in its place.
func Report(document []byte, programs []Program) ([]byte, error) {
	before, rest, ok := bytes.Cut(document, []byte(reportBegins))
	_, after, ends := bytes.Cut(rest, []byte(reportEnds))
	if !ok || !ends {
		return nil, fmt.Errorf("want the lines %q and %q", strings.TrimSpace(reportBegins), strings.TrimSpace(reportEnds))
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(reportBegins)
	b.WriteString("| element | arrays | subregions | polynomials | coefficients | look-ups | method | products, greedy | products | sums | live | table, bytes |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, of := range programs {
		p := program{of}
		used, table := fmt.Sprint(p.used()), 0
		if p.turned() {
			table = len(p.Subregions) * (p.class() + 1)
		}
		if p.Inner != nil {
			used, table = "48 × "+used, table+len(p.InnerClass)
		}
		var greedy, mul, add, live, sites, lookUps int
		least := ""
		for _, c := range p.Classes {
			greedy, live = max(greedy, c.Exact.Greedy), max(live, c.Exact.Cost.Live)
			mul, add = max(mul, c.Exact.Cost.Mul), max(add, c.Exact.Cost.Add)
			sites, lookUps = max(sites, len(c.Sites)), max(lookUps, len(c.Linear.LookUps))
			if !c.Linear.Least {
				least = " at most"
			}
		}
		n := len(p.Offsets)
		fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %d | %d%s | %s | %d | %d | %d | %d | %d |\n", p.Element.Name, n, used, len(p.Classes),
			n*sites, n*lookUps, least, p.Classes[0].Exact.Method, n*greedy, n*mul, n*add, live, table)
	}
	b.WriteString(reportEnds)
	b.Write(after)
	return b.Bytes(), nil
}
