; deviation: wrong-value
; title: an address before a variable is printed as a difference
; releases: llc 14 and later
; symptom: refuses
; shape: .*-N.*
; first-seen: 2026-11-27
; work-around: Add to an address that lies within.
; found: `ptxsmith emit run --subject llc@19`.
; note: PTX has only sums of an address and an integer (5.4.4, Initializers); the text is targets-4.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @targets, i64 -4)
