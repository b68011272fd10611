; deviation: wrong-value
; title: a global that is an integer of odd width is printed with a type that PTX does not have
; releases: llc 14 and later
; symptom: a type that PTX does not have
; shape: (.* )?integer of odd width( align)?
; first-seen: 2026-11-28
; link: https://github.com/llvm/llvm-project/issues/154337
; work-around: Use widths of 8, 16, 32 or 64.
; found: `ptxsmith emit run --subject llc@19`.
; note: The type is .u24; ptxas refuses it.
@g0 = addrspace(1) global i24 70000
