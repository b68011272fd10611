; deviation: wrong-value wrong-address
; title: the padding of a structure that holds an address and an integer of 128 bits is not printed
; releases: llc 14 and later
; symptom: another value
; shape: .*\*.*wide integer.*
; shape: .*wide integer.*\*.*
; shape: .*\*.*(fp128|x86_fp80|<N x).*
; shape: .*(fp128|x86_fp80|<N x).*\*.*
; shape: .*\*.*(ptrtoint|add) wide.*
; shape: .*(ptrtoint|add) wide.*\*.*
; first-seen: 2026-11-27
; work-around: Write the padding as a member.
; found: `ptxsmith emit run --subject llc@19`.
; note: i128 is aligned to 16.
@targets = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 4
@g0 = addrspace(1) global { ptr addrspace(1), i128 } { ptr addrspace(1) @targets, i128 5 }
