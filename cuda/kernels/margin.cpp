#include "emulator.h"

namespace margin {
#include "margin.cu"
}

KERNEL(margin, extend_margin)
