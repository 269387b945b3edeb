// Package chromium starts a browser for the tests of pages.
package chromium

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Start returns a context of a headless Chromium with a window of the given size, which
// ends with the test, or after limit. It skips the test if there is no Chromium.
func Start(t testing.TB, width, height int, limit time.Duration) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("needs Chromium; make test-page installs it and runs this test")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(3*time.Minute),
		chromedp.WindowSize(width, height), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	// chromedp complains of events that it does not know.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx
}

// Watch fails the test if the page throws an exception or writes to its console, if the browser logs something that is not of the sources
// in but, or if a request goes to an address that does not begin with origin.
func Watch(t testing.TB, ctx context.Context, origin string, but ...log.Source) {
	t.Helper()
	var mu sync.Mutex
	var complaints []string
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range complaints {
			t.Error(c)
		}
	})
	complain := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			complain("exception: %v", e.ExceptionDetails)
		case *runtime.EventConsoleAPICalled:
			for _, a := range e.Args {
				complain("console: %s: %s %s", e.Type, a.Value, a.Description)
			}
		case *log.EventEntryAdded:
			if !slices.Contains(but, e.Entry.Source) {
				complain("browser: %s: %s", e.Entry.Level, e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, origin) && !strings.HasPrefix(u, "data:") && u != "about:blank" {
				complain("the page asks for %s", u)
			}
		}
	})
	Do(t, ctx, network.Enable(), log.Enable())
}

// Do fails the test unless all actions succeed.
func Do(t testing.TB, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// JS evaluates an expression in the page.
func JS[T any](t testing.TB, ctx context.Context, expression string) (v T) {
	t.Helper()
	Do(t, ctx, chromedp.Evaluate(expression, &v))
	return v
}
