; deviation: wrong-value wrong-address
; title: addresses in a packed structure are printed at multiples of eight or lost
; releases: llc 14
; shape: .*packed .*\*.*
; first-seen: 2026-11-27
; work-around: Do not pack structures that hold addresses.
; found: `ptxsmith emit run --subject llc@19`.
; note: Later releases print such an address byte by byte with mask().
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global <{ i8, ptr addrspace(1) }> <{ i8 5, ptr addrspace(1) @targets }>
