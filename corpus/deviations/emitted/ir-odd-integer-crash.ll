; deviation: crash
; title: an integer beyond 64 bits whose width is no multiple of 64 ends llc by a signal
; releases: llc 14 to 19
; symptom: signal
; shape: .*integer of odd width.*
; shape: (.* )?wide integer( align)?
; first-seen: 2026-11-27
; work-around: Use a width that is a multiple of 8.
; found: `ptxsmith emit run --subject llc@19`.
; note: It writes more bytes than its buffer has.
@g0 = addrspace(1) global i135 5
