//go:build cuda

package cuda

// This file builds graphs, which gorgonia.org/cu cannot instantiate.

/*
#cgo CFLAGS: -I/usr/local/cuda/include
#include <cuda.h>

// add_kernel adds a launch after the node in last, if there is one, and stores the new
// node in last. The driver copies the parameters.
static CUresult add_kernel(CUgraph g, CUgraphNode *last, void *f, const unsigned *grid, const unsigned *block,
	unsigned shared, const unsigned long long *args, int n) {
	void *at[32];
	if (n > 32) return CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < n; i++) at[i] = (void *)&args[i];
	CUDA_KERNEL_NODE_PARAMS p = {0};
	p.func = (CUfunction)f;
	p.gridDimX = grid[0]; p.gridDimY = grid[1]; p.gridDimZ = grid[2];
	p.blockDimX = block[0]; p.blockDimY = block[1]; p.blockDimZ = block[2];
	p.sharedMemBytes = shared;
	p.kernelParams = at;
	CUgraphNode before = *last;
	return cuGraphAddKernelNode(last, g, before ? &before : 0, before ? 1 : 0, &p);
}

static CUresult instantiate(CUgraphExec *e, CUgraph g) { return cuGraphInstantiateWithFlags(e, g, 0); }

static CUresult launch_graph(CUgraphExec e, void *stream) { return cuGraphLaunch(e, (CUstream)stream); }
*/
import "C"

import (
	"unsafe"

	"gorgonia.org/cu"
)

func (n *nvidia) NewGraph(list []KernelNode) (any, error) {
	var graph C.CUgraph
	if err := result("cuGraphCreate", C.cuGraphCreate(&graph, 0)); err != nil {
		return nil, err
	}
	defer C.cuGraphDestroy(graph)
	var last C.CUgraphNode
	for _, k := range list {
		grid := [3]C.uint{C.uint(k.Grid.X), C.uint(k.Grid.Y), C.uint(k.Grid.Z)}
		block := [3]C.uint{C.uint(k.Block.X), C.uint(k.Block.Y), C.uint(k.Block.Z)}
		err := result("cuGraphAddKernelNode", C.add_kernel(graph, &last, handle(k.Kernel.(cu.Function)), &grid[0], &block[0],
			C.uint(k.Shared), (*C.ulonglong)(unsafe.Pointer(unsafe.SliceData(k.Args))), C.int(len(k.Args))))
		if err != nil {
			return nil, err
		}
	}
	var exec C.CUgraphExec
	err := result("cuGraphInstantiate", C.instantiate(&exec, graph))
	return exec, err
}

func (n *nvidia) LaunchGraph(stream, graph any) error {
	return result("cuGraphLaunch", C.launch_graph(graph.(C.CUgraphExec), handle(stream.(*nvidiaStream).Stream)))
}

func (n *nvidia) DestroyGraph(graph any) error {
	return result("cuGraphExecDestroy", C.cuGraphExecDestroy(graph.(C.CUgraphExec)))
}
