#include "emulator.h"

namespace render {
#include "render.cu"
}

KERNEL(render, render_1x1_u8)
KERNEL(render, render_1x2_u8)
KERNEL(render, render_1x4_u8)
KERNEL(render, render_2x1_u8)
KERNEL(render, render_2x2_u8)
KERNEL(render, render_2x4_u8)
KERNEL(render, render_4x1_u8)
KERNEL(render, render_4x2_u8)
KERNEL(render, render_4x4_u8)
KERNEL(render, render_1x1_u16)
KERNEL(render, render_1x2_u16)
KERNEL(render, render_1x4_u16)
KERNEL(render, render_2x1_u16)
KERNEL(render, render_2x2_u16)
KERNEL(render, render_2x4_u16)
KERNEL(render, render_4x1_u16)
KERNEL(render, render_4x2_u16)
KERNEL(render, render_4x4_u16)
