; Linkage, visibility, address spaces, constant expressions, intrinsics: what front ends other than clang make.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
%pair = type { i32, ptr }
@weak_table = weak addrspace(1) global [3 x i32] [i32 1, i32 2, i32 3]
@weak_odr_table = weak_odr addrspace(1) constant [2 x i64] [i64 -1, i64 1]
@once = linkonce_odr addrspace(1) global i32 7, align 4
@common_table = common addrspace(1) global [5 x i16] zeroinitializer
@internal_table = internal addrspace(1) global [4 x i8] c"abcd"
@private_table = private addrspace(4) constant [3 x double] [double 0.1, double -0.0, double 0x7FF0000000000000], align 16
@declared = external addrspace(1) global [8 x i32]
@declared_constant = external addrspace(4) global [8 x float]
@unsized = external addrspace(3) global [0 x i8], align 16
@block = internal addrspace(3) global [64 x i32] undef, align 4
@uninitialised = addrspace(1) global i64 undef
@wide = addrspace(1) global i128 123456789012345678901234567890
@difference = addrspace(1) global i64 ptrtoint (ptr addrspace(1) @weak_table to i64)
@second = addrspace(1) global ptr addrspace(1) getelementptr ([3 x i32], ptr addrspace(1) @weak_table, i64 0, i64 1)
@second_generic = addrspace(1) global ptr addrspacecast (ptr addrspace(1) getelementptr ([4 x i8], ptr addrspace(1) @internal_table, i64 0, i64 2) to ptr)
@pairs = addrspace(1) global [2 x %pair] [%pair { i32 1, ptr @callee }, %pair { i32 2, ptr addrspacecast (ptr addrspace(1) @once to ptr) }]
@vector = addrspace(1) global <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
@nested = addrspace(4) constant { i8, [2 x { i16, i64 }], <2 x i32> } { i8 1, [2 x { i16, i64 }] [{ i16, i64 } { i16 2, i64 3 }, { i16, i64 } { i16 4, i64 5 }], <2 x i32> <i32 6, i32 7> }
@tail = hidden addrspace(1) global [3 x i32] [i32 9, i32 0, i32 0]
@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(4) @private_table to ptr)], section "llvm.metadata"
define i32 @callee(i32 %x, double %d, <2 x float> %v, %pair %p) noinline { %r = add i32 %x, 1
 ret i32 %r }
define internal { i32, i64 } @two(i8 %a, i1 %b) noinline { %w = zext i8 %a to i32
 %r = insertvalue { i32, i64 } undef, i32 %w, 0
 %s = insertvalue { i32, i64 } %r, i64 5, 1
 ret { i32, i64 } %s }
declare i32 @elsewhere(ptr, i64) noreturn
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare void @llvm.nvvm.barrier0()
declare float @llvm.sqrt.f32(float)
declare i32 @llvm.ctpop.i32(i32)
define void @straight(ptr addrspace(1) %out, ptr addrspace(1) noalias %in, i32 %i, float %f) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %a = getelementptr i32, ptr addrspace(1) %in, i32 %t
 %b = load i32, ptr addrspace(1) %a
 %c = load i32, ptr addrspace(1) getelementptr ([3 x i32], ptr addrspace(1) @weak_table, i64 0, i64 2)
 %d = load i64, ptr addrspace(1) getelementptr ([2 x i64], ptr addrspace(1) @weak_odr_table, i64 0, i64 1)
 %e = add i32 %b, %c
 %g = getelementptr i32, ptr addrspace(1) %out, i32 %i
 store i32 %e, ptr addrspace(1) %g
 %h = getelementptr i8, ptr addrspace(1) %out, i64 40
 store i64 %d, ptr addrspace(1) %h
 %k = getelementptr [4 x i8], ptr addrspace(1) @internal_table, i32 0, i32 %i
 %l = load i8, ptr addrspace(1) %k
 store i8 %l, ptr addrspace(1) getelementptr ([4 x i8], ptr addrspace(1) @internal_table, i64 0, i64 3)
 %m = load double, ptr addrspace(4) getelementptr ([3 x double], ptr addrspace(4) @private_table, i64 0, i64 1)
 store double %m, ptr addrspace(1) %out
 ret void }
define void @wide_vectors(ptr addrspace(1) %out, ptr addrspace(1) %in) {
 %v = load <4 x i32>, ptr addrspace(1) %in, align 16
 %w = load <2 x double>, ptr addrspace(1) %in, align 16
 %x = getelementptr i8, ptr addrspace(1) %out, i64 32
 store <4 x i32> %v, ptr addrspace(1) %x, align 16
 store <2 x double> %w, ptr addrspace(1) %out, align 16
 %y = load i128, ptr addrspace(1) @wide
 store i128 %y, ptr addrspace(1) %in, align 16
 ret void }
define void @calls(ptr %out, i32 %i) {
 %a = call i32 @callee(i32 %i, double 1.0, <2 x float> zeroinitializer, %pair zeroinitializer)
 %b = call { i32, i64 } @two(i8 3, i1 true)
 %c = extractvalue { i32, i64 } %b, 0
 %d = load ptr, ptr addrspace(1) getelementptr ([2 x %pair], ptr addrspace(1) @pairs, i64 0, i64 0, i32 1)
 %e = call i32 %d(i32 %a, double 2.0, <2 x float> zeroinitializer, %pair zeroinitializer)
 %f = add i32 %c, %e
 store i32 %f, ptr %out
 ret void }
define void @shared_memory(ptr addrspace(1) %out, i32 %i) {
 %a = getelementptr [64 x i32], ptr addrspace(3) @block, i32 0, i32 %i
 store i32 %i, ptr addrspace(3) %a
 call void @llvm.nvvm.barrier0()
 %b = load i32, ptr addrspace(3) getelementptr ([64 x i32], ptr addrspace(3) @block, i32 0, i32 5)
 store i32 %b, ptr addrspace(1) %out
 %c = atomicrmw add ptr addrspace(1) @once, i32 %i seq_cst
 %d = load i8, ptr addrspace(3) @unsized
 store i8 %d, ptr addrspace(1) %out
 ret void }
define void @branches(ptr addrspace(1) %out, i32 %i) {
entry:
 switch i32 %i, label %other [ i32 0, label %zero
  i32 1, label %one
  i32 2, label %zero
  i32 3, label %one
  i32 4, label %zero ]
zero:
 store i32 5, ptr addrspace(1) %out
 br label %other
one:
 %s = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r"()
 store i32 %s, ptr addrspace(1) %out
 br label %other
other:
 ret void }
module asm "// assembly of the module"
!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6}
!0 = !{ptr @straight, !"kernel", i32 1}
!1 = !{ptr @calls, !"kernel", i32 1, !"maxntidx", i32 128, !"minctasm", i32 2}
!2 = !{ptr @shared_memory, !"kernel", i32 1, !"reqntidx", i32 64, !"maxnreg", i32 40}
!3 = !{ptr @branches, !"kernel", i32 1}
!4 = !{ptr @wide_vectors, !"kernel", i32 1}
!5 = !{ptr addrspace(1) @tail, !"managed", i32 1}
!6 = !{ptr @declared_function_user, !"kernel", i32 1}
define void @declared_function_user(ptr %p) { %r = call i32 @elsewhere(ptr %p, i64 3)
 %l = load i32, ptr addrspace(1) getelementptr ([8 x i32], ptr addrspace(1) @declared, i64 0, i64 2)
 store i32 %l, ptr %p
 ret void }
