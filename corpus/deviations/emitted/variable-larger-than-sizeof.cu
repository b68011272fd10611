// deviation: wrong-layout
// title: a class with a member with [[no_unique_address]] whose last member ends in a bit field and padding is printed with more bytes than sizeof
// releases: clang 19 and later
// symptom: larger than sizeof
// shape: .*overlapping .* : N.*
// shape: .* : N.*overlapping .*
// first-seen: 2026-11-29
// work-around: Do without [[no_unique_address]].
// found: `ptxsmith emit run`.
// note: sizeof is 48, and the variable has 56 bytes: an element of an array behind it is elsewhere. clang++ does so for x86-64, too.
typedef int Int16 __attribute__((aligned(16)));
struct C2 { long m3; long m4; };
struct C5 { long m6; Int16 m7; int m8 : 21; };
struct C0 { [[no_unique_address]] C2 m1; C5 m9; };
extern "C" {
__device__ C0 g0 = {{1, 2}, {3, 4, 5}};
__device__ unsigned long long w0[] = {sizeof(g0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m9.m8; }
}
