//! NVIDIA's compilers as libraries, loaded at run time: PTX in, cubin out, and CUDA C++ in, PTX out ([`Nvrtc`]).
//!
//! The assembler comes in two: nvJitLink, which also links ([`NvJitLink`]), and the PTX compiler ([`PtxCompiler`]), which is in the
//! driver's JIT compiler library too. Either is the code behind ptxas, in the process that loads it: it can take that process
//! with it, or never come back. Call it in a process of its own. Nothing here knows what a cubin holds.

mod memory;
mod nvjitlink;
mod nvrtc;
mod ptx_compiler;

use std::ffi::{CString, c_char, c_int, c_void};

pub use memory::keep_freed_memory;
pub use nvjitlink::NvJitLink;
pub use nvrtc::Nvrtc;
pub use ptx_compiler::PtxCompiler;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is not there, is no library of this machine, or lacks what it depends on.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// It has none of the functions that are needed.
    #[error("it has no {0}, under any name that is known")]
    Lacks(&'static str),
}

/// What came of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// The first step that did not succeed; `None` where all did.
    pub failed: Option<Failed>,
    /// The cubin, where there is one.
    pub cubin: Option<Vec<u8>>,
    /// The messages of the assembler, errors before others.
    pub log: String,
}

/// A step that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What it was: `create`.
    pub step: &'static str,
    /// The library's number for what went wrong.
    pub result: i32,
    /// What the library can mean.
    pub about: About,
}

/// What the library had seen when it gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Nothing but the target.
    Target,
    /// That the text does not look like PTX: it is empty, for one.
    Text,
    /// The module.
    Module,
}

type Handle = *mut c_void;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Bytes = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// A text for a function in C. No target and no module holds a zero byte; one that does ends there, as a file does for an
/// assembler in C.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// What several logs say, each a pair of functions.
///
/// # Safety
/// The handle must be one of the library that the functions are of, and not destroyed.
unsafe fn logs(handle: Handle, logs: [(Size, Bytes); 2]) -> String {
    let mut all = String::new();
    for log in logs {
        // SAFETY: says the caller.
        let bytes = unsafe { read(handle, log) }.unwrap_or_default();
        all.push_str(String::from_utf8_lossy(&bytes).trim_end_matches('\0'));
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
    }
    all
}

/// What a pair of functions, size and contents, gives; `None` where there is nothing.
///
/// # Safety
/// The handle must be one of the library that the functions are of, and not destroyed.
unsafe fn read(handle: Handle, (size_of, contents_of): (Size, Bytes)) -> Option<Vec<u8>> {
    let mut size = 0;
    // SAFETY: the handle is live, says the caller; `size` outlives the call.
    if unsafe { size_of(handle, &mut size) } != 0 || size == 0 {
        return None;
    }
    let mut bytes = vec![0; size];
    // SAFETY: as above, and the buffer has the size that the library asked for.
    (unsafe { contents_of(handle, bytes.as_mut_ptr().cast()) } == 0).then_some(bytes)
}
