"""Compiles CUDA C++ to PTX with one release of NVRTC: nvrtc.py LIBRARY OUT (options by name in NVRTC_OPTIONS)."""

import ctypes
import json
import os
import pathlib
import sys


def compiled(library, source, options):
    program = ctypes.c_void_p()
    text = source.read_bytes()
    library.nvrtcCreateProgram(ctypes.byref(program), text, source.name.encode(), 0, None, None)
    words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status = library.nvrtcCompileProgram(program, len(options), words)
    what = "ProgramLog" if status else "PTX"
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, text)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return status, text.value


def main():
    library, out = sys.argv[1:]
    folder = pathlib.Path(__file__).parent.parent / "cuda"
    nvrtc = ctypes.CDLL(library)
    for name, options in json.loads(os.environ["NVRTC_OPTIONS"]).items():
        for source in sorted(folder.glob("*.cu")):
            status, text = compiled(nvrtc, source, [*options, f"-I{folder}", "-std=c++17"])
            if status:
                print(f"{source.stem}{name}: {text.decode().splitlines()[0]}")
            else:
                pathlib.Path(out, f"{source.stem}{name}.ptx").write_bytes(text)


main()
