"""Prints the PTX of a source: nvrtc.py LIBRARY SOURCE"""

import ctypes
import sys

library, source = sys.argv[1:]
nvrtc = ctypes.CDLL(library)
program, size = ctypes.c_void_p(), ctypes.c_size_t()
with open(source, "rb") as file:
    text = file.read()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None)
major, minor = ctypes.c_int(), ctypes.c_int()
nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
standard = b"-std=c++20" if major.value >= 12 else b"-std=c++17"
options = [standard, b"-arch=compute_80", b"-rdc=true", b"-device-int128", b"-default-device"]
# Releases up to 13.0 do not know it.
if (major.value, minor.value) <= (13, 0):
    options.append(b"-D__builtin_offsetof(type,member)=(~0ull)")
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
part = "PTX" if status == 0 else "ProgramLog"
getattr(nvrtc, f"nvrtcGet{part}Size")(program, ctypes.byref(size))
output = ctypes.create_string_buffer(size.value)
getattr(nvrtc, f"nvrtcGet{part}")(program, output)
print(output.value.decode())
sys.exit(status)
