#include "emulator.h"

namespace splat {
#include "splat.cu"
}

KERNEL(splat, splat_flow)
KERNEL(splat, splat_1_u8)
KERNEL(splat, splat_2_u8)
KERNEL(splat, splat_3_u8)
KERNEL(splat, splat_4_u8)
KERNEL(splat, splat_1_u16)
KERNEL(splat, splat_2_u16)
KERNEL(splat, splat_3_u16)
KERNEL(splat, splat_4_u16)
