// deviation: wrong-layout
// title: a member with [[no_unique_address]] that ends in a bit field takes a unit too much: what follows is placed too far, and the variable is larger
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 12.0 and later
// shape: .*overlapping (aligned )*struct (: [^{}]*\{[^{}]*\}(, [^{}]*\{[^{}]*\})* )?\{ ([^{}]*; )?[^{};]* : N( \+ N)?( omitted)? \}(; .*| \}.*)
// shape: .*overlapping (aligned )*union \{ .* : N.*\}(; .*| \}.*)
// first-seen: 2026-11-28
// work-around: Leave out the attribute, or make the bit field a whole member.
// found: `ptxsmith emit run --subject cicc@13.5`.
// note: The first member is a plain class of 4 bytes, so m5 is at 4 and the object has 8 bytes (C++ ABI, 2.4). The variable has m5 at 8 and 12 bytes.
// reads: k0+0 06000000
struct C2 { char m3; int m4 : 10; };
struct C0 { [[no_unique_address]] C2 m1; int m5; };
extern "C" {
__device__ C0 g0 = {{5, 5}, 6};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m5; }
}
