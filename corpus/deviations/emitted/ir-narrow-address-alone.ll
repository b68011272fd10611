; deviation: wrong-value
; title: an integer narrower than an address, made of one, is printed with an operator that PTX does not have there
; releases: llc 16 and later
; symptom: arithmetic on an address
; shape: (.* )?(ptrtoint|trunc|add) narrow .*
; first-seen: 2026-11-28
; link: https://github.com/llvm/llvm-project/issues/59742
; work-around: Use an integer of 64 bits.
; found: `ptxsmith emit run --subject llc@19`.
; note: The text is targets-1 up to LLVM 19 and targets&0xffffffffffffffff in 22; ptxas refuses both. LLVM 14 and 15 print targets.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global i32 ptrtoint (ptr addrspace(1) @targets to i32)
