#include "emulator.h"

namespace error {
#include "error.cu"
}

KERNEL(error, warp_error)
