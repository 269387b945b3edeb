#include "emulator.h"

namespace inpaint {
#include "inpaint.cu"
}

KERNEL(inpaint, propagate_u8)
KERNEL(inpaint, blur_u8)
KERNEL(inpaint, store_u8)
KERNEL(inpaint, propagate_u16)
KERNEL(inpaint, blur_u16)
KERNEL(inpaint, store_u16)
