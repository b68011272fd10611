"""Prints the PTX of a source: nvrtc.py LIBRARY SOURCE OPTION..."""

import ctypes
import sys

library, source, *options = sys.argv[1:]
nvrtc = ctypes.CDLL(library)
program, size = ctypes.c_void_p(), ctypes.c_size_t()
with open(source, "rb") as file:
    text = file.read()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None)
options = [option.encode() for option in options]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
part = "PTX" if status == 0 else "ProgramLog"
getattr(nvrtc, f"nvrtcGet{part}Size")(program, ctypes.byref(size))
output = ctypes.create_string_buffer(size.value)
getattr(nvrtc, f"nvrtcGet{part}")(program, output)
print(output.value.decode())
sys.exit(status)
