// deviation: crash
// title: a member behind one with [[no_unique_address]] whose class has a base and ends in bit fields ends the compiler with an internal error
// releases: gcc 12
// symptom: output_constructor_regular_field
// shape: .*overlapping .*struct : .*
// first-seen: 2026-11-29
// work-around: Leave out the attribute.
// found: `ptxsmith emit run --subject gcc@12`.
// note: "internal compiler error: in output_constructor_regular_field".
struct C8 { long m9; int m10; };
struct C7 : C8 { signed char m11 : 7; int m12 : 13; };
struct C0 { [[no_unique_address]] C7 m6; bool m13; };
extern "C" {
__device__ C0 g0 = {{{1, 2}, 3, 4}, 1};
}
