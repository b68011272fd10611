// deviation: crash
// title: a global of type _Float16 ends the compiler with an internal error
// releases: nvcc 13.0 and later
// symptom: unsupported float variant
// apart: .*_Float16.*
// first-seen: 2026-11-28
// work-around: Use __half of cuda_fp16.h.
// found: `ptxsmith emit check`.
// note: Where the host compiler knows the type: g++ 12 and later. The compiler says: unsupported float variant!
extern "C" __device__ _Float16 g0 = (_Float16)1.5f;
