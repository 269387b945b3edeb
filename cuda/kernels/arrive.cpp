#include "emulator.h"

namespace arrive {
#include "arrive.cu"
}

KERNEL(arrive, arrive_flow)
