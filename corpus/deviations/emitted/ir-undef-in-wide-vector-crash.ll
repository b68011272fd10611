; deviation: crash
; title: a vector of integers beyond 64 bits whose width is no multiple of 64 ends llc by a signal if an element is undef or poison
; releases: llc 14 and later
; symptom: signal
; shape: .*(undef|poison) in <(N|odd) x wide integer>.*
; first-seen: 2026-11-29
; work-around: Use zero in place of undef, or an array.
; found: `ptxsmith emit run --subject llc@22`.
; note: The vectors without undef, and arrays with it, are printed.
@g0 = addrspace(1) global <2 x i96> <i96 undef, i96 5>
