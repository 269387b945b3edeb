#include "emulator.h"

namespace texture {
#include "texture.cu"
}

KERNEL(texture, look_up)
KERNEL(texture, pairs)
KERNEL(texture, pairs_with_table)
KERNEL(texture, cubic)
KERNEL(texture, catmull_rom)
