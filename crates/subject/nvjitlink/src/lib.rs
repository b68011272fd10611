//! NVIDIA's compilers as libraries, loaded at run time: PTX in, cubin out, and CUDA C++ in, PTX out
//! ([`NvrtcLibrary`]).
//!
//! The assembler exists in two libraries: nvJitLink, which also links ([`NvJitLink`]), and the PTX compiler
//! ([`PtxCompiler`]), which is also part of the driver's JIT compiler library. Both contain the code of ptxas
//! and run it in the process that loads them. They may crash the process or hang, so call them in a separate
//! process. Nothing here interprets a cubin.

mod memory;
mod nvjitlink;
mod nvrtc;
mod ptx_compiler;

use std::ffi::{CString, c_char, c_int, c_void};

pub use memory::keep_freed_memory;
pub use nvjitlink::NvJitLink;
pub use nvrtc::NvrtcLibrary;
pub use ptx_compiler::PtxCompiler;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryLoadError {
    /// The library is missing, is not for this machine, or one of its dependencies is missing.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// The library lacks a required function under all its known names.
    #[error("it has no {0}, under any name that is known")]
    Lacks(&'static str),
}

/// The result for one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompiledModule {
    /// The first step that failed; `None` if all succeeded.
    pub failed: Option<FailedStep>,
    /// The cubin, if there is one.
    pub cubin: Option<Vec<u8>>,
    /// Messages of the assembler, errors before others.
    pub log: String,
}

/// A step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedStep {
    /// Name of the step: `create`.
    pub step: &'static str,
    /// The library's error code.
    pub result: i32,
    /// The input that the error can be about.
    pub about: ProcessedInput,
}

/// The input that the library had processed when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessedInput {
    /// The target only.
    Target,
    /// The source text, which does not look like PTX; for example, it is empty.
    Text,
    /// The module.
    Module,
}

type Handle = *mut c_void;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Bytes = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// Converts a string for a C function. Targets and modules do not contain zero bytes; a string with a zero
/// byte is cut there, as a file is for an assembler written in C.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Returns the contents of several logs, each given as a pair of functions.
///
/// # Safety
/// The handle must come from the library that contains the functions, and must not be destroyed.
unsafe fn logs(handle: Handle, logs: [(Size, Bytes); 2]) -> String {
    let mut all = String::new();
    for log in logs {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { read(handle, log) }.unwrap_or_default();
        all.push_str(String::from_utf8_lossy(&bytes).trim_end_matches('\0'));
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
    }
    all
}

/// Returns the data that a pair of functions, for size and contents, provides; `None` if there is none.
///
/// # Safety
/// The handle must come from the library that contains the functions, and must not be destroyed.
unsafe fn read(handle: Handle, (size_of, contents_of): (Size, Bytes)) -> Option<Vec<u8>> {
    let mut size = 0;
    // SAFETY: the caller guarantees that the handle is live; `size` outlives the call.
    if unsafe { size_of(handle, &mut size) } != 0 || size == 0 {
        return None;
    }
    let mut bytes = vec![0; size];
    // SAFETY: as above, and the buffer has the size that the library requested.
    (unsafe { contents_of(handle, bytes.as_mut_ptr().cast()) } == 0).then_some(bytes)
}
