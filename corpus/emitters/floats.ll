; Halves, single and double precision, and values that are no numbers.
; shared
; globals
@half_one = addrspace(1) global half 1.0
@half_largest = addrspace(1) global half 65504.0
@bfloat_one = addrspace(1) global bfloat 0xR3F80
@float_third = addrspace(1) global float 0x3FD5555560000000
@float_negative_zero = addrspace(1) global float -0.0
@float_nan = addrspace(1) global float 0x7FF8000000000000
@float_infinity = addrspace(1) global float 0xFFF0000000000000
@float_denormal = addrspace(1) global float 0x36A0000000000000
@double_tenth = addrspace(1) global double 0x3FB999999999999A
@double_nan_with_payload = addrspace(1) global double 0x7FF8000000000123
@array_of_halves = addrspace(1) global [3 x half] [half 1.0, half -2.0, half 0.5]
@array_of_floats = addrspace(1) global [3 x float] [float 1.0, float 0x3FD5555560000000, float -0.0]
@array_of_doubles = addrspace(1) global [2 x double] [double 1.0, double 0xBFB999999999999A]
