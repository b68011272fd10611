; Pointers: to variables in two state spaces, generic, with offsets; to functions; in structures, packed ones too.
; shared
%Pair = type { i8, i32 }
@target = addrspace(1) global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8]
@pairs = addrspace(1) global [4 x %Pair] zeroinitializer
@fixed = addrspace(4) constant [4 x i16] [i16 1, i16 2, i16 3, i16 4]
define void @f() { ret void }
define i32 @g(i32 %x) { ret i32 %x }
; globals
@plain = addrspace(1) global ptr addrspace(1) @target
@offset = addrspace(1) global ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @target, i64 5)
@element = addrspace(1) global ptr addrspace(1) getelementptr ([8 x i32], ptr addrspace(1) @target, i64 0, i64 3)
@negative = addrspace(1) global ptr addrspace(1) getelementptr (i32, ptr addrspace(1) @target, i64 -2)
@field = addrspace(1) global ptr addrspace(1) getelementptr ([4 x %Pair], ptr addrspace(1) @pairs, i64 0, i64 2, i32 1)
@far = addrspace(1) global ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @target, i64 4294967296)
@generic = addrspace(1) global ptr addrspacecast (ptr addrspace(1) @target to ptr)
@generic_offset = addrspace(1) global ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @target to ptr), i64 8)
@generic_of_offset = addrspace(1) global ptr addrspacecast (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @target, i64 12) to ptr)
@constant = addrspace(1) global ptr addrspace(4) @fixed
@constant_offset = addrspace(1) global ptr addrspace(4) getelementptr (i8, ptr addrspace(4) @fixed, i64 2)
@generic_constant = addrspace(1) global ptr addrspacecast (ptr addrspace(4) @fixed to ptr)
@null = addrspace(1) global ptr null
@as_integer = addrspace(1) global i64 ptrtoint (ptr addrspace(1) @target to i64)
@as_integer_plus = addrspace(1) global i64 add (i64 ptrtoint (ptr addrspace(1) @target to i64), i64 24)
@from_integer = addrspace(1) global ptr inttoptr (i64 4096 to ptr)
@itself = addrspace(1) global ptr addrspace(1) @itself
@function = addrspace(1) global ptr @f
@function_table = addrspace(1) global [3 x ptr] [ptr @f, ptr null, ptr @g]
@array = addrspace(1) global [3 x ptr addrspace(1)] [ptr addrspace(1) @target, ptr addrspace(1) null, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @target, i64 4)]
@in_struct = addrspace(1) global { i8, ptr addrspace(1), i16 } { i8 1, ptr addrspace(1) @target, i16 2 }
@in_struct_with_offset = addrspace(1) global { i32, ptr addrspace(1) } { i32 -1, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @target, i64 9) }
@in_nested = addrspace(1) global [2 x { ptr, %Pair }] [{ ptr, %Pair } { ptr @f, %Pair { i8 1, i32 2 } }, { ptr, %Pair } { ptr @g, %Pair { i8 3, i32 4 } }]
@in_packed = addrspace(1) global <{ i8, ptr addrspace(1) }> <{ i8 1, ptr addrspace(1) @target }>
@in_packed_twice = addrspace(1) global <{ i16, ptr addrspace(1), i8, ptr addrspace(1) }> <{ i16 1, ptr addrspace(1) @target, i8 2, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @target, i64 4) }>
@generic_in_packed = addrspace(1) global <{ i8, ptr }> <{ i8 1, ptr addrspacecast (ptr addrspace(1) @target to ptr) }>
@function_in_packed = addrspace(1) global <{ i8, ptr }> <{ i8 1, ptr @f }>
@in_constant = addrspace(4) constant [2 x ptr addrspace(1)] [ptr addrspace(1) @target, ptr addrspace(1) @pairs]
