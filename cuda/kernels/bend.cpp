#include "emulator.h"

namespace bend {
#include "bend.cu"
}

KERNEL(bend, bend_gather)
KERNEL(bend, bend_move)
KERNEL(bend, bend_average)
KERNEL(bend, bend_combine)
KERNEL(bend, bend_spread)
