; deviation: wrong-value wrong-address wrong-layout
; title: an integer narrower than an address, made of one, is printed as the whole address in an array or a structure
; releases: llc 14 and later
; shape: .*(ptrtoint|trunc|add) narrow .*
; first-seen: 2026-11-28
; link: https://github.com/llvm/llvm-project/pull/201217
; work-around: Use an integer of 64 bits.
; found: `ptxsmith emit run --subject llc@19`.
; note: The address takes eight bytes, so the second member of the structure is not printed at all; ptxas accepts it.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global { i32, i32 } { i32 ptrtoint (ptr addrspace(1) @targets to i32), i32 5 }
