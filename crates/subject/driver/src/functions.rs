//! The functions of the library that this crate uses, as its documentation declares them.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

use crate::DriverLoadError;

/// `CUresult`; 0 is success.
pub type Status = c_int;
/// `CUdevice`
pub type Device = c_int;
/// `CUdeviceptr`
pub type Pointer = u64;
/// `CUcontext`
pub type Context = *mut c_void;
/// `CUmodule`
pub type Module = *mut c_void;
/// `CUfunction`
pub type Function = *mut c_void;

/// `CU_JIT_INFO_LOG_BUFFER`, followed by its size, then the same for errors.
pub const INFO_LOG: c_int = 3;
pub const INFO_LOG_SIZE: c_int = 4;
pub const ERROR_LOG: c_int = 5;
pub const ERROR_LOG_SIZE: c_int = 6;

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`: tags in a list that identify the next
/// pointer.
pub const PARAMETER_BUFFER: *mut c_void = std::ptr::without_provenance_mut(1);
pub const PARAMETER_BUFFER_SIZE: *mut c_void = std::ptr::without_provenance_mut(2);

/// `CUdevice_attribute`
pub const MULTIPROCESSORS: c_int = 16;
pub const CLOCK_RATE: c_int = 13;
pub const MEMORY_CLOCK_RATE: c_int = 36;
pub const CAPABILITY_MAJOR: c_int = 75;
pub const CAPABILITY_MINOR: c_int = 76;

/// Declares the function table: a field for each function, its name in the library, and its type.
macro_rules! functions {
    ($($field:ident = $name:literal: ($($argument:ty),*);)*) => {
        /// The functions, looked up by name when the library is loaded. Each returns a status.
        pub struct Functions {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> Status,)*
        }

        impl Functions {
            /// Looks up all functions.
            ///
            /// # Safety
            /// The library must be NVIDIA's driver library, or have functions of these names with the same
            /// types.
            pub unsafe fn find(library: &Library) -> Result<Functions, DriverLoadError> {
                Ok(Functions {
                    $(
                        // SAFETY: the caller guarantees that the function has the type in the documentation.
                        $field: *unsafe { library.get(concat!($name, "\0").as_bytes()) }
                            .map_err(|_| DriverLoadError::Lacks($name))?,
                    )*
                })
            }
        }
    };
}

// The suffixes are those to which the driver's header has mapped the plain names since CUDA 3.2 or 4.0.
functions! {
    init = "cuInit": (c_uint);
    version = "cuDriverGetVersion": (*mut c_int);
    error_name = "cuGetErrorName": (Status, *mut *const c_char);
    error_string = "cuGetErrorString": (Status, *mut *const c_char);
    device_count = "cuDeviceGetCount": (*mut c_int);
    device = "cuDeviceGet": (*mut Device, c_int);
    device_name = "cuDeviceGetName": (*mut c_char, c_int, Device);
    device_attribute = "cuDeviceGetAttribute": (*mut c_int, c_int, Device);
    create_context = "cuCtxCreate_v2": (*mut Context, c_uint, Device);
    destroy_context = "cuCtxDestroy_v2": (Context);
    synchronize = "cuCtxSynchronize": ();
    load = "cuModuleLoadDataEx": (*mut Module, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    unload = "cuModuleUnload": (Module);
    global = "cuModuleGetGlobal_v2": (*mut Pointer, *mut usize, Module, *const c_char);
    function = "cuModuleGetFunction": (*mut Function, Module, *const c_char);
    allocate = "cuMemAlloc_v2": (*mut Pointer, usize);
    free = "cuMemFree_v2": (Pointer);
    fill = "cuMemsetD8_v2": (Pointer, u8, usize);
    copy_to_host = "cuMemcpyDtoH_v2": (*mut c_void, Pointer, usize);
    copy_to_device = "cuMemcpyHtoD_v2": (Pointer, *const c_void, usize);
    launch = "cuLaunchKernel": (
        Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void,
        *mut *mut c_void
    );
}
