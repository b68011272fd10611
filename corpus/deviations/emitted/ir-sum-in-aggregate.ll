; deviation: wrong-value wrong-address
; title: a sum or a difference of addresses in an array or a structure is printed as nothing
; releases: llc 14 and later
; symptom: another value
; shape: .*\b(add|sub within|sub) .*
; shape: .*ptrtoint inttoptr .*
; first-seen: 2026-11-28
; link: https://github.com/llvm/llvm-project/pull/201220
; work-around: Add to the pointer by getelementptr before ptrtoint.
; found: `ptxsmith emit run --subject llc@19`.
; note: What follows moves up by eight bytes: the structure begins with 7. As the whole global the sum is printed right.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global { i64, i64 } { i64 add (i64 ptrtoint (ptr addrspace(1) @targets to i64), i64 4), i64 7 }
