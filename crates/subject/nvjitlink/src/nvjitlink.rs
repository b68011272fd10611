//! nvJitLink: assembles and links.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;

use libloading::Library;

use crate::{
    Bytes, CompiledModule, FailedStep, Handle, LibraryLoadError, ProcessedInput, Size, c_string, logs, read,
};

type Create = unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Handle) -> c_int;
type AddData = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int;
type Complete = unsafe extern "C" fn(Handle) -> c_int;
type Version = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> c_int;

/// The option that keeps the cubin relocatable.
const RELOCATABLE: &CStr = c"-r";
/// Results (`nvJitLinkResult`) for source that does not look like PTX, in older and newer releases.
const INVALID_INPUT: c_int = 3;
const INCORRECT_INPUT_TYPE: c_int = 12;
/// `NVJITLINK_INPUT_PTX`
const INPUT_PTX: c_int = 2;

/// The loaded library.
pub struct NvJitLink {
    create: Create,
    destroy: Destroy,
    add_data: AddData,
    complete: Complete,
    cubin: (Size, Bytes),
    error_log: (Size, Bytes),
    info_log: (Size, Bytes),
    version: Option<(u32, u32)>,
    relocatable: bool,
    // Dropped last, because it contains the functions.
    _library: Library,
}

impl NvJitLink {
    /// Loads the library at this path. Loading runs its initialization, which is NVIDIA's code.
    pub fn load(path: &Path) -> Result<NvJitLink, LibraryLoadError> {
        // SAFETY: the effects of a library's initialization cannot be known. The user chooses the library,
        // and the caller loads it in a process that may crash.
        let library = unsafe { Library::new(path)? };
        // SAFETY: the signature of each function is the one in NVIDIA's documentation, the same in all
        // versions.
        unsafe {
            let version: Option<Version> = library.get(b"nvJitLinkVersion\0").ok().map(|symbol| *symbol);
            let version = version.and_then(|version| {
                let mut major = 0;
                let mut minor = 0;
                (version(&mut major, &mut minor) == 0).then_some((major, minor))
            });
            let suffix = suffix(&library, version)?;
            let mut loaded = NvJitLink {
                create: *library.get(function_name("Create", &suffix))?,
                destroy: *library.get(function_name("Destroy", &suffix))?,
                add_data: *library.get(function_name("AddData", &suffix))?,
                complete: *library.get(function_name("Complete", &suffix))?,
                cubin: (
                    *library.get(function_name("GetLinkedCubinSize", &suffix))?,
                    *library.get(function_name("GetLinkedCubin", &suffix))?,
                ),
                error_log: (
                    *library.get(function_name("GetErrorLogSize", &suffix))?,
                    *library.get(function_name("GetErrorLog", &suffix))?,
                ),
                info_log: (
                    *library.get(function_name("GetInfoLogSize", &suffix))?,
                    *library.get(function_name("GetInfoLog", &suffix))?,
                ),
                version,
                relocatable: false,
                _library: library,
            };
            loaded.relocatable = loaded.accepts_options(&[c"-arch=sm_80", RELOCATABLE]);
            Ok(loaded)
        }
    }

    /// Whether a linker can be created with these options.
    fn accepts_options(&self, options: &[&CStr]) -> bool {
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: the options outlive the call; the handle is destroyed once, right after it was created.
        unsafe {
            let made = (self.create)(&mut handle, options.len() as u32, options.as_ptr()) == 0;
            if made {
                (self.destroy)(&mut handle);
            }
            made
        }
    }

    /// Returns the version that the library reports: `(13, 5)`. `None` for the first releases, which do not
    /// report one.
    pub fn version(&self) -> Option<(u32, u32)> {
        self.version
    }

    /// Whether the library can keep the cubin relocatable, as newer releases can. Undefined names and
    /// addresses of functions then stay symbolic.
    pub fn is_relocatable(&self) -> bool {
        self.relocatable
    }

    /// Assembles and links one module for one target (`sm_80`).
    ///
    /// The library may hang or crash on a bad module, so this may not return.
    pub fn link(&self, ptx: &str, target: &str) -> CompiledModule {
        self.link_all(&[ptx], target, self.relocatable)
    }

    /// Assembles and links modules in this order for one target; with `relocatable`, keeps the cubin
    /// relocatable.
    ///
    /// The library may hang or crash on a bad module, so this may not return.
    pub fn link_all(&self, modules: &[&str], target: &str, relocatable: bool) -> CompiledModule {
        let arch = c_string(&format!("-arch={target}"));
        let names = (0..modules.len()).map(|place| c_string(&format!("{place}.ptx")));
        let modules: Vec<_> = modules.iter().map(|ptx| c_string(ptx)).zip(names).collect();
        let options = [arch.as_ptr(), RELOCATABLE.as_ptr()];
        let options = &options[..if relocatable { 2 } else { 1 }];
        let mut handle: Handle = ptr::null_mut();
        let mut linked = CompiledModule::default();
        // SAFETY: the handle is written by `create`, used only after success, and destroyed once. Strings and
        // buffers outlive the calls that use them; sizes are the sizes of the buffers.
        unsafe {
            let result = (self.create)(&mut handle, options.len() as u32, options.as_ptr());
            if result != 0 {
                linked.failed = Some(FailedStep { step: "create", result, about: ProcessedInput::Target });
                return linked;
            }
            let mut results = modules.iter().map(|(text, name)| {
                let bytes = text.as_bytes_with_nul();
                (self.add_data)(handle, INPUT_PTX, bytes.as_ptr().cast(), bytes.len(), name.as_ptr())
            });
            linked.failed = match results.find(|&result| result != 0) {
                None => failed_step("complete", (self.complete)(handle)),
                Some(result) => failed_step("add the module", result),
            };
            if linked.failed.is_none() {
                linked.cubin = read(handle, self.cubin);
            }
            linked.log = logs(handle, [self.error_log, self.info_log]);
            (self.destroy)(&mut handle);
        }
        linked
    }
}

/// Returns the failed step for the result of a call on modules; `None` if the call succeeded.
fn failed_step(step: &'static str, result: c_int) -> Option<FailedStep> {
    let about = match result {
        0 => return None,
        INVALID_INPUT | INCORRECT_INPUT_TYPE => ProcessedInput::Text,
        _ => ProcessedInput::Module,
    };
    Some(FailedStep { step, result, about })
}

/// Returns the name of a function in the library.
fn function_name(function: &str, suffix: &str) -> String {
    format!("{}{function}{suffix}", prefix(suffix))
}

/// Returns the prefix of the library's names. Newer headers append a version to names, so that programs can
/// distinguish releases.
fn prefix(suffix: &str) -> &'static str {
    if suffix.is_empty() { "nvJitLink" } else { "__nvJitLink" }
}

/// Returns the version suffix of the library's names: `_13_5`; empty if they are plain.
fn suffix(library: &Library, version: Option<(u32, u32)>) -> Result<String, LibraryLoadError> {
    // The first releases do not report their version.
    let known = (12..=13).rev().flat_map(|major| (0..=9).rev().map(move |minor| (major, minor)));
    let suffixes = version.into_iter().chain(known).map(|(major, minor)| format!("_{major}_{minor}"));
    for suffix in suffixes.chain([String::new()]) {
        let name = format!("{}Create{suffix}\0", prefix(&suffix));
        // SAFETY: the symbol is looked up, not called.
        if unsafe { library.get::<Create>(name.as_bytes()) }.is_ok() {
            return Ok(suffix);
        }
    }
    Err(LibraryLoadError::Lacks("nvJitLinkCreate"))
}
