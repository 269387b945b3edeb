package atomicfile

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"time"
)

// machine tells the processes that see each other's locks: those of one boot of one host. A
// file system that many hosts share may keep the locks of each to itself.
type machine struct {
	host, boot string // six hexadecimal digits each
	since      time.Time
}

// here is the machine that runs this process. Tests change it.
var here = sync.OnceValue(func() machine {
	tag := func(parts ...any) string { return fmt.Sprintf("%.3x", sha256.Sum256(fmt.Append(nil, parts...))) }
	host, _ := os.Hostname()
	id, boot, since := identity()
	return machine{host: tag(host, "\n", id), boot: tag(boot), since: since}
})

// outlived reports whether a part of a host's boot that was last changed at a time is none of a
// process that runs elsewhere: it is one of this boot, whose locks show who runs, or of an earlier
// one of this host.
func (m machine) outlived(host, boot string, changed time.Time) bool {
	return host == m.host && (boot == m.boot || changed.Before(m.since))
}
