#include "emulator.h"

namespace share {
#include "share.cu"
}

KERNEL(share, share_weights)
