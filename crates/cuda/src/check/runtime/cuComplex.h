#pragma once
#include "cuda_runtime.h"
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define PTXSMITH_COMPLEX(type, part, make, suffix) \
  PTXSMITH_HD type make(part r, part i) { return {r, i}; } \
  PTXSMITH_HD part cuCreal##suffix(type x) { return x.x; } PTXSMITH_HD part cuCimag##suffix(type x) { return x.y; } \
  PTXSMITH_HD part cuCabs##suffix(type x) { return x.x; } PTXSMITH_HD type cuConj##suffix(type x) { return x; } \
  PTXSMITH_HD type cuCadd##suffix(type x, type y) { return x; } PTXSMITH_HD type cuCsub##suffix(type x, type y) { return x; } \
  PTXSMITH_HD type cuCmul##suffix(type x, type y) { return x; } PTXSMITH_HD type cuCdiv##suffix(type x, type y) { return x; } \
  PTXSMITH_HD type cuCfma##suffix(type x, type y, type z) { return x; }
PTXSMITH_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, f)
PTXSMITH_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, )
PTXSMITH_HD cuComplex make_cuComplex(float x, float y) { return {x, y}; }
PTXSMITH_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
PTXSMITH_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {(float)x.x, (float)x.y}; }
