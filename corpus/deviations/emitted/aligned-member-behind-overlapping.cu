// deviation: wrong-value wrong-layout
// title: a member behind a class with an aligned member is printed elsewhere where [[no_unique_address]] stands in front
// releases: clang 19 and later
// shape: struct \{ overlapping struct \{ int \}; struct \{ aligned (struct|int|char|short|long) .*
// shape: .*overlapping .*struct \{ (.*; )?struct \{ (.*; )?aligned .*
// shape: .*overlapping .*struct \{ (.*; )?__int128.*
// first-seen: 2026-11-27
// work-around: Do without [[no_unique_address]].
// found: `ptxsmith emit run`.
// note: The kernel beside it reads 0.
// reads: k0+0 05000000
struct C2 { int m3; };
struct alignas(64) C8 { int m9; char m10; };
struct C6 { C8 m7; int m11; };
struct C0 { [[no_unique_address]] C2 m1; C6 m5; };
extern "C" {
__device__ C0 g0 = {{5}, {{5, 5}, 5}};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m5.m11; }
}
