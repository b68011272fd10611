//! Headers that stand in for NVIDIA's, so that programs can be checked without a CUDA toolkit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes headers that declare the parts of the CUDA runtime that programs use.
pub fn write_headers(directory: &Path) -> io::Result<()> {
    for (name, text) in HEADERS {
        fs::write(directory.join(name), text)?;
    }
    for name in ALIASES {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, "#include \"cuda_runtime.h\"\n")?;
    }
    Ok(())
}

/// Writes headers that are used beside those of NVIDIA's toolkits with these roots, which are absolute: `nvcc.h`
/// with what clang does not define, a directory `quoted` for the first place of the search by quotes, and a
/// directory `absent` for the last place of any search.
pub fn write_headers_beside(toolkits: &[PathBuf], directory: &Path) -> io::Result<()> {
    fs::write(directory.join("nvcc.h"), include_str!("runtime/nvcc.h"))?;
    fs::write(directory.join("ptxsmith_library.h"), LIBRARY)?;
    fs::write(directory.join("ptxsmith_min_max.h"), MIN_MAX)?;
    // clang's own headers would take a header of the project with this name for NVIDIA's.
    let headers: Vec<PathBuf> = toolkits.iter().map(|root| root.join("include/cuda.h")).collect();
    let first = match headers.iter().find(|header| header.is_file()) {
        Some(header) => format!("#include \"{}\"", header.display()),
        None => "#include_next <cuda.h>".to_owned(),
    };
    fs::create_dir_all(directory.join("quoted"))?;
    fs::write(
        directory.join("quoted/cuda.h"),
        format!("#ifdef CUDA_VERSION\n#include_next <cuda.h>\n#else\n{first}\n#endif\n"),
    )?;
    // clang's own headers include these, and NVIDIA's wheels of the runtime lack them.
    fs::create_dir_all(directory.join("absent"))?;
    let names = ["curand_mtgp32_kernel.h", "texture_fetch_functions.h", "texture_indirect_functions.h"];
    names.iter().try_for_each(|name| fs::write(directory.join("absent").join(name), ""))
}

/// The parts of the C++ library that nvcc makes known to every program.
const LIBRARY: &str = include_str!("runtime/library.h");

/// `min` and `max` of numbers.
const MIN_MAX: &str = include_str!("runtime/min_max.h");

/// Headers with declarations of the CUDA runtime, written from its documentation.
const HEADERS: [(&str, &str); 24] = [
    ("ptxsmith_library.h", LIBRARY),
    ("ptxsmith_min_max.h", MIN_MAX),
    ("cuda_fp4.h", include_str!("runtime/cuda_fp4.h")),
    ("cuda_fp8.h", include_str!("runtime/cuda_fp8.h")),
    ("cublas_v2.h", include_str!("runtime/cublas_v2.h")),
    ("cublas.h", "#include \"cublas_v2.h\"\n"),
    ("cublasLt.h", "#include \"cublas_v2.h\"\n"),
    ("cuComplex.h", include_str!("runtime/cuComplex.h")),
    ("cufft.h", include_str!("runtime/cufft.h")),
    ("cufftXt.h", "#include \"cufft.h\"\n"),
    ("cusparse.h", include_str!("runtime/cusparse.h")),
    ("cusparse_v2.h", "#include \"cusparse.h\"\n"),
    ("cusolver_common.h", include_str!("runtime/cusolver_common.h")),
    ("cusolverDn.h", "#include \"cusolver_common.h\"\n"),
    ("cusolverSp.h", "#include \"cusolver_common.h\"\n"),
    ("library_types.h", include_str!("runtime/library_types.h")),
    ("cuda_runtime.h", include_str!("runtime/runtime.h")),
    ("ptxsmith_api.h", include_str!("runtime/api.h")),
    ("ptxsmith_device.h", include_str!("runtime/device.h")),
    ("cooperative_groups.h", include_str!("runtime/cooperative_groups.h")),
    ("cuda_fp16.h", include_str!("runtime/cuda_fp16.h")),
    ("cuda_bf16.h", "#include \"cuda_fp16.h\"\n"),
    ("curand_kernel.h", include_str!("runtime/curand_kernel.h")),
    ("curand.h", "#include \"curand_kernel.h\"\n"),
];

/// The other headers of the runtime. They only include `cuda_runtime.h`.
const ALIASES: [&str; 33] = [
    "cuda.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "math_constants.h",
    "vector_types.h",
    "vector_functions.h",
    "device_functions.h",
    "math_functions.h",
    "device_atomic_functions.h",
    "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_intrinsics.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "driver_types.h",
    "builtin_types.h",
    "host_defines.h",
    "crt/host_defines.h",
    "crt/device_functions.h",
    "crt/math_functions.h",
    "texture_types.h",
    "cuda_texture_types.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "surface_types.h",
    "surface_functions.h",
    "channel_descriptor.h",
    "cuda_profiler_api.h",
    "cuda_device_runtime_api.h",
    "cuda_pipeline.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/memcpy_async.h",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_header_named_cuda_is_of_the_toolkit_and_the_next_of_the_project() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for (name, text) in [
            ("toolkit/include/cuda.h", "#define CUDA_VERSION 12090\n"),
            ("project/cuda.h", "#define OWN 5\n"),
            ("a.cpp", "#include \"cuda.h\"\nint a = CUDA_VERSION;\n#include \"cuda.h\"\nint b = OWN;\n"),
        ] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), text).unwrap();
        }
        write_headers_beside(&[path("toolkit")], directory.path()).unwrap();
        let clang = super::super::find_clang().unwrap();
        let mut preprocessing = std::process::Command::new(clang);
        preprocessing.args(["-E", "-P", "-iquote"]).arg(path("quoted")).arg("-I").arg(path("project"));
        let output = preprocessing.arg(path("a.cpp")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["int a = 12090;", "int b = 5;"]);
    }
}
