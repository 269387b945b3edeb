package cuda

import "fmt"

// Graph is a sequence of launches that a stream starts as one: the host makes a single call, and
// the device loses less time between kernels.
type Graph struct {
	device *Device
	handle any
}

// launch holds the arguments of Stream.Launch.
type launch struct {
	kernel      *Kernel
	grid, block Dim
	args        []Arg
}

// newGraph returns a graph of launches, each of which waits for the previous one. The memory that
// the arguments refer to must stay valid until the graph is closed.
func (d *Device) newGraph(list []launch) (*Graph, error) {
	nodes := make([]KernelNode, len(list))
	for i, l := range list {
		kernel, err := l.kernel.handle()
		if err != nil {
			return nil, fmt.Errorf("kernel %s of %s.cu: %w", l.kernel.name, l.kernel.module, err)
		}
		nodes[i] = KernelNode{Kernel: kernel, Grid: l.grid, Block: l.block, Args: make([]uint64, len(l.args))}
		for j, a := range l.args {
			nodes[i].Args[j] = a.bits
		}
	}
	h, err := d.driver.NewGraph(nodes)
	if err != nil {
		return nil, fmt.Errorf("graph of %d kernels: %w", len(list), err)
	}
	return &Graph{device: d, handle: h}, nil
}

// Run queues the graph's launches.
func (s *Stream) Run(g *Graph) error { return s.device.driver.LaunchGraph(s.handle, g.handle) }

// Close destroys the graph. Queued launches still run to their end.
func (g *Graph) Close() error { return g.device.driver.DestroyGraph(g.handle) }

// launch queues l.
func (s *Stream) launch(l launch) error { return s.Launch(l.kernel, l.grid, l.block, 0, l.args...) }
