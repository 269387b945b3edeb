#include "emulator.h"

namespace smooth {
#include "smooth.cu"
}

KERNEL(smooth, smooth_weights)
