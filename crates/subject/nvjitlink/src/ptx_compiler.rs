//! The PTX compiler (`nvPTXCompiler`), which assembles. It is part of the driver's JIT compiler library.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::path::Path;
use std::ptr;

use libloading::Library;

use crate::{
    Bytes, CompiledModule, FailedStep, Handle, LibraryLoadError, ProcessedInput, Size, c_string, logs, read,
};

type Create = unsafe extern "C" fn(*mut Handle, usize, *const c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Handle) -> c_int;
type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int;
type Version = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> c_int;

/// The option that keeps the cubin relocatable.
const RELOCATABLE: &CStr = c"--compile-only";

/// The loaded library.
pub struct PtxCompiler {
    create: Create,
    destroy: Destroy,
    compile: Compile,
    cubin: (Size, Bytes),
    error_log: (Size, Bytes),
    info_log: (Size, Bytes),
    version: Option<(u32, u32)>,
    // Dropped last, because it contains the functions.
    _library: Library,
}

impl PtxCompiler {
    /// Loads the library at this path. Loading runs its initialization, which is NVIDIA's code.
    pub fn load(path: &Path) -> Result<PtxCompiler, LibraryLoadError> {
        // SAFETY: the effects of a library's initialization cannot be known. The user chooses the library,
        // and the caller loads it in a process that may crash.
        let library = unsafe { Library::new(path)? };
        // SAFETY: the symbol is looked up, not called.
        if unsafe { library.get::<Create>(b"nvPTXCompilerCreate\0") }.is_err() {
            return Err(LibraryLoadError::Lacks("nvPTXCompilerCreate"));
        }
        // SAFETY: the signature of each function is the one in NVIDIA's documentation, the same in all
        // versions.
        unsafe {
            let version: Option<Version> =
                library.get(b"nvPTXCompilerGetVersion\0").ok().map(|symbol| *symbol);
            let version = version.and_then(|version| {
                let mut major = 0;
                let mut minor = 0;
                (version(&mut major, &mut minor) == 0).then_some((major, minor))
            });
            Ok(PtxCompiler {
                create: *library.get(b"nvPTXCompilerCreate\0")?,
                destroy: *library.get(b"nvPTXCompilerDestroy\0")?,
                compile: *library.get(b"nvPTXCompilerCompile\0")?,
                cubin: (
                    *library.get(b"nvPTXCompilerGetCompiledProgramSize\0")?,
                    *library.get(b"nvPTXCompilerGetCompiledProgram\0")?,
                ),
                error_log: (
                    *library.get(b"nvPTXCompilerGetErrorLogSize\0")?,
                    *library.get(b"nvPTXCompilerGetErrorLog\0")?,
                ),
                info_log: (
                    *library.get(b"nvPTXCompilerGetInfoLogSize\0")?,
                    *library.get(b"nvPTXCompilerGetInfoLog\0")?,
                ),
                version,
                _library: library,
            })
        }
    }

    /// Returns the CUDA release of the library: `(12, 2)`. `None` if it does not report one.
    pub fn version(&self) -> Option<(u32, u32)> {
        self.version
    }

    /// Assembles one module for one target (`sm_80`); with `relocatable`, keeps the cubin relocatable.
    ///
    /// The library may hang or crash on a bad module, so this may not return.
    pub fn compile(&self, ptx: &str, target: &str, relocatable: bool) -> CompiledModule {
        let (target, text) = (c_string(&format!("--gpu-name={target}")), c_string(ptx));
        let options = [target.as_ptr(), RELOCATABLE.as_ptr()];
        let options = &options[..if relocatable { 2 } else { 1 }];
        let mut handle: Handle = ptr::null_mut();
        let mut compiled = CompiledModule::default();
        // SAFETY: the handle is written by `create`, used only after success, and destroyed once. The source,
        // which ends with a zero byte, and the options outlive it.
        unsafe {
            let result = (self.create)(&mut handle, text.as_bytes().len(), text.as_ptr());
            if result != 0 {
                compiled.failed = Some(FailedStep { step: "create", result, about: ProcessedInput::Text });
                return compiled;
            }
            let result = (self.compile)(handle, options.len() as c_int, options.as_ptr());
            if result == 0 {
                compiled.cubin = read(handle, self.cubin);
            } else {
                compiled.failed = Some(FailedStep { step: "compile", result, about: ProcessedInput::Module });
            }
            compiled.log = logs(handle, [self.error_log, self.info_log]);
            (self.destroy)(&mut handle);
        }
        compiled
    }
}
