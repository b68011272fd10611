; Integers of the widths that exist and of those that do not.
; shared
; globals
@i1 = addrspace(1) global i1 true
@i7 = addrspace(1) global i7 -5
@i8 = addrspace(1) global i8 -128
@i12 = addrspace(1) global i12 2047
@i16 = addrspace(1) global i16 -2
@i24 = addrspace(1) global i24 -3
@i32 = addrspace(1) global i32 -2147483648
@i33 = addrspace(1) global i33 4294967297
@i48 = addrspace(1) global i48 -2
@i63 = addrspace(1) global i63 4611686018427387905
@i64_least = addrspace(1) global i64 -9223372036854775808
@i64_most = addrspace(1) global i64 9223372036854775807
@i128 = addrspace(1) global i128 340282366920938463463374607431768211455
@i128_mixed = addrspace(1) global i128 18446744073709551618
@i256 = addrspace(1) global i256 1
@array_of_i1 = addrspace(1) global [5 x i1] [i1 true, i1 false, i1 true, i1 true, i1 false]
@array_of_i24 = addrspace(1) global [3 x i24] [i24 1, i24 -2, i24 3]
@array_of_i33 = addrspace(1) global [2 x i33] [i33 1, i33 -1]
@array_of_i128 = addrspace(1) global [2 x i128] [i128 1, i128 -2]
@unset_i32 = addrspace(1) global i32 undef
@zero_i64 = addrspace(1) global i64 zeroinitializer
