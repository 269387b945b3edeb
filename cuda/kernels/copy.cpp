#include "emulator.h"

namespace copy {
#include "copy.cu"
}

KERNEL(copy, copy_vectors)
KERNEL(copy, nothing)
