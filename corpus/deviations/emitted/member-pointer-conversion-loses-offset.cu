// deviation: wrong-value wrong-address wrong-layout
// title: a pointer to a member of a second base that a constant expression converts to one of the derived class loses the offset of the base
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: (.* )?(constexpr|extern const|computed|constructed|defaulted) (.* )?member (function )?pointer.*
// first-seen: 2026-11-28
// work-around: Write a pointer to a member of the derived class itself, or initialize an aggregate that is not constexpr.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: The conversion adds the offset of the base ([conv.mem]; C++ ABI, 2.3): y is at 4 in Second and at 16 in Derived. Without constexpr the same compiler prints 16. Dereferenced, the pointer reads another member.
// reads: k0+0 1000000000000000
struct Record { int first, second, third; };
struct Second { int x, y; };
struct Derived : Record, Second { };
struct C0 { int Derived::*m1; };
extern "C" {
__device__ constexpr C0 g0 = {&Second::y};
__global__ void k0(unsigned char *o) { *(int Derived::**)(o + 0) = g0.m1; *(const C0 **)(o + 16) = &g0; }
}
