#include "emulator.h"

namespace blend {
#include "blend.cu"
}

KERNEL(blend, fade_u8)
KERNEL(blend, fade_u16)
KERNEL(blend, meet_u8)
KERNEL(blend, meet_u16)
