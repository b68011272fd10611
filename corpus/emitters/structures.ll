; Structures: padded, nested, packed, partly without a value; arrays of them; strings.
; shared
%Pair = type { i8, i32 }
%Nested = type { i16, %Pair, [2 x %Pair], i8 }
%Packed = type <{ i8, i32, i16 }>
; globals
@padded = addrspace(1) global { i8, i64, i16 } { i8 1, i64 2, i16 3 }
@tail_padded = addrspace(1) global { i64, i8 } { i64 -1, i8 -1 }
@pair = addrspace(1) global %Pair { i8 -1, i32 -2 }
@nested = addrspace(1) global %Nested { i16 1, %Pair { i8 2, i32 3 }, [2 x %Pair] [%Pair { i8 4, i32 5 }, %Pair { i8 6, i32 7 }], i8 8 }
@packed = addrspace(1) global %Packed <{ i8 1, i32 2, i16 3 }>
@packed_in_array = addrspace(1) global [2 x %Packed] [%Packed <{ i8 1, i32 2, i16 3 }>, %Packed <{ i8 4, i32 5, i16 6 }>]
@packed_in_struct = addrspace(1) global { i8, %Packed, i64 } { i8 9, %Packed <{ i8 1, i32 2, i16 3 }>, i64 7 }
@struct_of_odd = addrspace(1) global { i1, i24, i33 } { i1 true, i24 -1, i33 -1 }
@struct_of_floats = addrspace(1) global { half, float, double } { half 1.0, float 2.0, double 3.0 }
@partly_undef = addrspace(1) global { i32, i32, i32 } { i32 1, i32 undef, i32 3 }
@partly_zero = addrspace(1) global { [3 x i32], i8 } { [3 x i32] zeroinitializer, i8 1 }
@all_zero = addrspace(1) global %Nested zeroinitializer
@all_undef = addrspace(1) global [4 x i16] undef
@poisoned = addrspace(1) global { i8, i32 } { i8 1, i32 poison }
@string = addrspace(4) constant [6 x i8] c"hello\00"
@string_with_controls = addrspace(4) constant [5 x i8] c"\01\FF\22\5C\00"
@array_of_arrays = addrspace(1) global [2 x [3 x i16]] [[3 x i16] [i16 1, i16 2, i16 3], [3 x i16] [i16 4, i16 5, i16 6]]
@one_element = addrspace(1) global [1 x i64] [i64 5]
@empty_struct_inside = addrspace(1) global { {}, i32 } { {} {}, i32 4 }
@constant_space = addrspace(4) constant { i8, i16 } { i8 1, i16 2 }
