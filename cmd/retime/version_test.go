package main

import (
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestVersionOf(t *testing.T) {
	const commit, other = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	const checkout = "$Format:%H %(describe:tags)$\n"
	for _, c := range []struct {
		name, module string
		commit       string
		modified     string
		archive      string
		want         string
	}{
		{"tagged", release, commit, "false", checkout, release},
		{"tagged and changed", release + "+dirty", commit, "true", checkout, release + "-dev+0123456789ab.dirty"},
		{"behind a tag", "v0.1.1-0.20261122080000-0123456789ab", commit, "false", checkout, release + "-dev+0123456789ab"},
		{"another tag", "v0.0.9", commit, "false", checkout, release + "-dev+0123456789ab"},
		{"no tag", "v0.0.0-20261122080000-0123456789ab", commit, "false", checkout, release + "-dev+0123456789ab"},
		{"no tag and changed", "v0.0.0-20261122080000-0123456789ab+dirty", commit, "true", checkout, release + "-dev+0123456789ab.dirty"},
		{"a stamp without a module version", "(devel)", commit, "false", checkout, release + "-dev+0123456789ab"},
		{"an archive in another checkout", "(devel)", commit, "false", other + " " + release + "\n", release + "-dev+0123456789ab"},
		{"no stamp", "(devel)", "", "", checkout, release + "-dev"},
		{"nothing known", "", "", "", "", release + "-dev"},
		{"archive of the tag", "(devel)", "", "", other + " " + release + "\n", release},
		{"archive behind a tag", "(devel)", "", "", other + " " + release + "-3-gfedcba9\n", release + "-dev+fedcba987654"},
		{"archive without tags", "(devel)", "", "", other + " \n", release + "-dev+fedcba987654"},
		{"downloaded release", "v0.2.0", "", "", checkout, "v0.2.0"},
		{"downloaded commit", "v0.1.1-0.20261122080000-0123456789ab", "", "", checkout, "v0.1.1-0.20261122080000-0123456789ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := &debug.BuildInfo{Main: debug.Module{Version: c.module}}
			for key, value := range map[string]string{"vcs.revision": c.commit, "vcs.modified": c.modified} {
				if value != "" {
					info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
				}
			}
			if got := versionOf(info, c.archive); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The changelog begins with the unreleased changes, or with the release of this source,
// and no earlier release has the same version.
func TestChangelogNamesTheRelease(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	var headings []string
	for _, m := range regexp.MustCompile(`(?m)^## \[(.*?)\](?: - \d{4}-\d\d-\d\d)?$`).FindAllStringSubmatch(string(text), -1) {
		headings = append(headings, m[1])
	}
	if len(headings) == 0 || headings[0] != "Unreleased" && "v"+headings[0] != release {
		t.Fatalf("CHANGELOG.md has the headings %q, the program says %s", headings, release)
	}
	if slices.Contains(headings[1:], strings.TrimPrefix(release, "v")) {
		t.Errorf("%s is released already: %q", release, headings)
	}
}
