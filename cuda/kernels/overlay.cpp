#include "emulator.h"

namespace overlay {
#include "overlay.cu"
}

KERNEL(overlay, overlay_mask)
