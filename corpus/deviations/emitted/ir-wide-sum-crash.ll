; deviation: crash
; title: a sum of an address in 128 bits ends llc by a signal
; releases: llc 14 and later
; symptom: signal
; shape: .*add wide .*
; first-seen: 2026-11-28
; work-around: Add in 64 bits.
; found: `ptxsmith emit run --subject llc@19`.
; note: It writes past the end of its buffer. LLVM 14 has printed the address without what is added before.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global i128 add (i128 ptrtoint (ptr addrspace(1) @targets to i128), i128 4)
