; Vectors: of two, three and four elements, in arrays and in structures.
; shared
; globals
@v2_i8 = addrspace(1) global <2 x i8> <i8 1, i8 -1>
@v3_i8 = addrspace(1) global <3 x i8> <i8 1, i8 2, i8 3>
@v4_i16 = addrspace(1) global <4 x i16> <i16 1, i16 2, i16 3, i16 -4>
@v3_i32 = addrspace(1) global <3 x i32> <i32 1, i32 2, i32 3>
@v4_float = addrspace(1) global <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
@v2_double = addrspace(1) global <2 x double> <double 1.0, double -2.0>
@v4_half = addrspace(1) global <4 x half> <half 1.0, half 2.0, half 3.0, half 4.0>
@v8_i1 = addrspace(1) global <8 x i1> <i1 1, i1 0, i1 1, i1 1, i1 0, i1 0, i1 1, i1 0>
@array_of_v3_float = addrspace(1) global [2 x <3 x float>] [<3 x float> <float 1.0, float 2.0, float 3.0>, <3 x float> <float 4.0, float 5.0, float 6.0>]
@array_of_v2_i16 = addrspace(1) global [2 x <2 x i16>] [<2 x i16> <i16 1, i16 2>, <2 x i16> <i16 3, i16 4>]
@struct_with_v4_i32 = addrspace(1) global { i8, <4 x i32> } { i8 1, <4 x i32> <i32 2, i32 3, i32 4, i32 5> }
