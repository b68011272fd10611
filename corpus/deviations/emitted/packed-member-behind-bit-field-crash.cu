// deviation: crash
// title: a bit field of 128 bits behind a base that has a base, with a packed member behind it, ends the compiler
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// symptom: initializing bitfield
// symptom: signal
// symptom: exit status
// shape: .*struct : (aligned |constructed |defaulted |designated |virtual )*struct : .*\} \{ (.*; )?__int128( converted)? : N; (.*; )?packed .*
// first-seen: 2026-11-29
// work-around: Leave the member unpacked.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: An internal error, or SIGSEGV where the base of the base ends in a bit field.
struct C13 { char m14; };
struct C12 : C13 { __int128 m16; unsigned m17; };
struct C0 : C12 { __int128 m18 : 81; __attribute__((packed)) double m19; };
extern "C" {
__device__ C0 g0 = {{{1}, 7, 1}, 5, 1.0};
}
