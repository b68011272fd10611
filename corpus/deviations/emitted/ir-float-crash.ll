; deviation: crash
; title: a floating-point number other than half, float and double ends llc by a signal
; releases: llc 14 to 19
; symptom: signal
; shape: .*(bfloat|fp128).*
; first-seen: 2026-11-27
; work-around: Write the bits as an integer.
; found: `ptxsmith emit run --subject llc@19`.
; note: Only where the number is the whole global.
@g0 = addrspace(1) global bfloat 0xR3F80
