; An alias of a function, which only newer back ends print.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
@table = addrspace(4) constant [4 x i16] [i16 1, i16 -1, i16 2, i16 -2]
define i32 @real(i32 %x) noinline {
 %r = mul i32 %x, %x
 ret i32 %r }
@other = alias i32 (i32), ptr @real
define void @use(ptr addrspace(1) %out, i32 %i) {
 %r = call i32 @other(i32 %i)
 store i32 %r, ptr addrspace(1) %out
 %l = load i16, ptr addrspace(4) getelementptr ([4 x i16], ptr addrspace(4) @table, i64 0, i64 3)
 store i16 %l, ptr addrspace(1) %out
 ret void }
!nvvm.annotations = !{!0}
!0 = !{ptr @use, !"kernel", i32 1}
