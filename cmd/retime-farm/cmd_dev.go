package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"retime/cmd/retime-farm/internal/work"
)

func newDevCommand() *cobra.Command {
	var o workerOptions
	var temporal, data string
	var port int
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Start a server and a worker on this machine, to try the farm",
		Long: `dev starts Temporal's development server and a worker, until interrupted. Jobs
outlive dev: the next one continues them. The server takes connections from this
machine only, and has no passwords.`,
		Args: args(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDev(cmd.Context(), o, temporal, data, port) },
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.StringVar(&o.queue, "queue", "retime", "prefix of the task queues' names")
	f.StringVar(&temporal, "temporal", "", "the program temporal (default next to this one, or in PATH)")
	f.StringVar(&data, "data", "", "directory for the server's state (default retime-farm in the user's cache)")
	f.IntVar(&port, "port", 7233, "the server's port; its web page is 1000 ports above")
	return cmd
}

func runDev(ctx context.Context, o workerOptions, temporal, data string, port int) error {
	if temporal == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		if temporal, err = work.Find(self, "temporal"); err != nil {
			return &exit{2, errors.New("no program temporal next to this one or in PATH; make farm builds it, or name it with --temporal")}
		}
	}
	if data == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		data = filepath.Join(cache, "retime-farm")
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return &exit{73, err}
	}
	// If another program's server already uses this port, it must not get our jobs.
	o.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if l, err := net.Listen("tcp", o.address); err != nil {
		return &exit{75, fmt.Errorf("port %d is taken: %w", port, err)}
	} else if err := l.Close(); err != nil {
		return err
	}
	asked := ctx // the caller's context: its end is a request to stop
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := exec.CommandContext(ctx, temporal, "server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(port),
		"--db-filename", filepath.Join(data, "temporal.db"), "--log-level", "error")
	server.Stderr, server.WaitDelay = os.Stderr, 5*time.Second
	server.Cancel = func() error { return work.Terminate(server) }
	work.DieWithParent(server)
	if err := server.Start(); err != nil {
		return fmt.Errorf("%s: %w", temporal, err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- server.Wait()
		stop()
	}()
	err := o.serve(ctx)
	stop()
	if e := <-ended; err == nil && asked.Err() == nil {
		err = fmt.Errorf("%s ended: %w", temporal, e)
	}
	return err
}

// serve runs a worker once the server answers.
func (o *workerOptions) serve(ctx context.Context) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	o.name = "dev/" + strconv.Itoa(os.Getpid())
	options.Identity = o.name
	for {
		t, err := o.dial(options)
		if err == nil {
			defer t.Close()
			fmt.Fprintf(os.Stderr, "retime-farm: jobs: retime-farm submit IN -o OUT --address %s\n", o.address)
			return o.work(ctx, t)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}
