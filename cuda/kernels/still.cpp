#include "emulator.h"

namespace still {
#include "still.cu"
}

KERNEL(still, keep_still)
