; deviation: wrong-value
; title: a difference of addresses is printed, which PTX does not have
; releases: llc 14 to 15
; symptom: refuses
; shape: (.* )?(sub within|sub) .*
; first-seen: 2026-11-28
; work-around: Subtract offsets in the source.
; found: `ptxsmith emit run --subject llc@14`.
; note: The text is targets-targets, which is 0; ptxas refuses it. Later releases print 0, or an error for two variables.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global i64 sub (i64 ptrtoint (ptr addrspace(1) @targets to i64), i64 ptrtoint (ptr addrspace(1) @targets to i64))
