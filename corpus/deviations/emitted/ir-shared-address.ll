; deviation: wrong-value
; title: the address of a variable in .shared is printed as an initial value
; releases: llc 14 and later
; symptom: outside .global and .const
; shape: .*shared \*.*
; first-seen: 2026-11-28
; work-around: Take the address in code.
; found: `ptxsmith emit run --subject llc@19`.
; note: PTX has addresses of variables in .global and .const alone (5.4.4, Initializers); ptxas refuses it. An error of llc would say which variable it is.
@shared = addrspace(3) global [8 x i32] undef
@g0 = addrspace(1) global ptr addrspacecast (ptr addrspace(3) @shared to ptr)
