#include "emulator.h"

namespace prefilter {
#include "prefilter.cu"
}

KERNEL(prefilter, columns_u8_f32)
KERNEL(prefilter, columns_u16_f32)
KERNEL(prefilter, columns_f32)
KERNEL(prefilter, columns_f64)
KERNEL(prefilter, columns_narrow_f32)
KERNEL(prefilter, columns_narrow_f64)
KERNEL(prefilter, rows_f32)
KERNEL(prefilter, rows_f64)
KERNEL(prefilter, rows_narrow_f32)
KERNEL(prefilter, rows_narrow_f64)
KERNEL(prefilter, whole_columns_f32)
KERNEL(prefilter, whole_columns_f64)
KERNEL(prefilter, whole_rows_f32)
KERNEL(prefilter, whole_rows_f64)
KERNEL(prefilter, extend_f32)
KERNEL(prefilter, extend_f64)
