#include "emulator.h"

namespace fill {
#include "fill.cu"
}

KERNEL(fill, fill_nearest)
