; deviation: wrong-value crash
; title: a zero element of a vector whose elements are no 1, 2, 4, 8 or 16 bytes moves the elements behind it
; releases: llc 14 and later
; symptom: another value
; symptom: signal
; shape: .*zeroinitializer in <(N|odd) x (wide )?integer( of odd width)?>.*
; first-seen: 2026-11-28
; work-around: Use an array, or elements without zero.
; found: `ptxsmith emit run --subject llc@22`.
; note: The zero takes as many bytes as a variable of the type, 4 for i24; the other elements take 3, as in a register of 96 bits. The last element loses its end, and wide zeros are written past the end of the buffer.
; RUN: llc < %s -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 -mattr=+ptx71 | FileCheck %s
; CHECK: .b8 g0[{{1[26]}}] = {0, 0, 0, 5, 0, 0, 6, 0, 0, 7{{(, 0)*}}};
@g0 = addrspace(1) global <4 x i24> <i24 0, i24 5, i24 6, i24 7>
