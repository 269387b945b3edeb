#include "emulator.h"

namespace convert {
#include "convert.cu"
}

KERNEL(convert, to_float_u8)
KERNEL(convert, to_float_u16)
KERNEL(convert, to_samples_u8)
KERNEL(convert, to_samples_u16)
