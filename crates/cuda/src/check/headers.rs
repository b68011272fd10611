//! Headers that stand in for NVIDIA's, so that programs can be checked without a CUDA toolkit.

use std::fs;
use std::io;
use std::path::Path;

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

/// Writes empty headers with the names that clang's own headers include and NVIDIA's wheels of the runtime
/// lack.
pub fn write_absent_headers(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let names = ["curand_mtgp32_kernel.h", "texture_fetch_functions.h", "texture_indirect_functions.h"];
    names.iter().try_for_each(|name| fs::write(directory.join(name), ""))
}

/// Writes the header with the macros of nvcc that clang does not define with NVIDIA's headers.
pub fn write_macros_of_nvcc(path: &Path) -> io::Result<()> {
    fs::write(path, include_str!("runtime/nvcc.h"))
}

/// Headers with declarations of the CUDA runtime, written from its documentation.
const HEADERS: [(&str, &str); 22] = [
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
