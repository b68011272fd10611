//! NVRTC: CUDA C++ in, PTX out.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

use libloading::Library;

use crate::{Bytes, Handle, LibraryLoadError, Size, c_string, read};

type Create = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> c_int;

/// The loaded library.
pub struct NvrtcLibrary {
    create: Create,
    compile: Compile,
    destroy: Destroy,
    ptx: (Size, Bytes),
    log: (Size, Bytes),
    // Dropped last, because it contains the functions.
    _library: Library,
    _builtins: Vec<Library>,
}

/// Loads the libraries next to this one that it opens by name when it compiles: some releases do not search
/// their own directory.
fn builtins(path: &Path) -> Vec<Library> {
    let files = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let builtins = files.filter(|file| {
        file.file_name().to_str().is_some_and(|name| name.starts_with("libnvrtc-builtins.so."))
    });
    // SAFETY: as of the library itself, below.
    builtins.filter_map(|file| unsafe { Library::new(file.path()) }.ok()).collect()
}

impl NvrtcLibrary {
    /// Loads the library at this path. Loading runs its initialization, which is NVIDIA's code.
    pub fn load(path: &Path) -> Result<NvrtcLibrary, LibraryLoadError> {
        let builtins = builtins(path);
        // SAFETY: the effects of a library's initialization cannot be known. The user chooses the library,
        // and the caller loads it in a process that may crash.
        let library = unsafe { Library::new(path)? };
        // SAFETY: the signature of each function is the one in NVIDIA's documentation, the same in all
        // versions.
        unsafe {
            Ok(NvrtcLibrary {
                create: *library.get(b"nvrtcCreateProgram\0")?,
                compile: *library.get(b"nvrtcCompileProgram\0")?,
                destroy: *library.get(b"nvrtcDestroyProgram\0")?,
                ptx: (*library.get(b"nvrtcGetPTXSize\0")?, *library.get(b"nvrtcGetPTX\0")?),
                log: (*library.get(b"nvrtcGetProgramLogSize\0")?, *library.get(b"nvrtcGetProgramLog\0")?),
                _library: library,
                _builtins: builtins,
            })
        }
    }

    /// Compiles source code to PTX; `name` appears in messages. The error contains the library's messages.
    ///
    /// The library may hang or crash on a bad source, so this may not return.
    pub fn compile(&self, source: &str, name: &str, options: &[String]) -> Result<String, String> {
        let (source, name) = (c_string(source), c_string(name));
        let options: Vec<CString> = options.iter().map(|option| c_string(option)).collect();
        let options: Vec<*const c_char> =
            options.iter().map(|option| option.as_c_str()).map(CStr::as_ptr).collect();
        let mut program: Handle = ptr::null_mut();
        // SAFETY: the program is written by `create`, used only after success, and destroyed once. Strings
        // outlive the calls that use them.
        unsafe {
            let made =
                (self.create)(&mut program, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null());
            if made != 0 {
                return Err(format!("no program: result {made}\n"));
            }
            let result = (self.compile)(program, options.len() as c_int, options.as_ptr());
            let what = if result == 0 { self.ptx } else { self.log };
            let text = read(program, what).unwrap_or_default();
            (self.destroy)(&mut program);
            let text = String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned();
            if result == 0 { Ok(text) } else { Err(format!("{text}\nNVRTC: result {result}\n")) }
        }
    }
}
