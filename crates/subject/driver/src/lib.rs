//! The CUDA driver (`libcuda.so.1`), loaded at run time: modules in, device memory out.
//!
//! The library compiles PTX in the process that loads it, and a faulty kernel can make the context unusable:
//! call it in a separate process. Building this crate does not need CUDA. Nothing here interprets PTX.
//!
//! [`DriverLibrary::load`] → [`DriverLibrary::context`] → [`DriverContext::load`] → [`LoadedModule::global`],
//! [`LoadedModule::run`]. Every object is released when it is dropped, in the order that the library
//! requires.

mod functions;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;

use functions::Functions;
use libloading::Library;

/// The library's name for the system's loader.
pub const LIBRARY: &str = "libcuda.so.1";

/// Size in bytes of each of the two logs of a compilation.
const LOG: usize = 1 << 18;
/// Size in bytes of the guards before and after an output buffer, which no kernel may touch.
const GUARD: usize = 256;
/// Content of the guards.
const GUARD_BYTE: u8 = 0xa5;

/// Why the library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DriverLoadError {
    /// The library is missing, is not for this machine, or one of its dependencies is missing.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// The library lacks a function.
    #[error("it has no {0}: not the CUDA driver, or one older than CUDA 6.5")]
    Lacks(&'static str),
}

/// A failed call of the driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: error {code}, {name}{}", in_parentheses(.text.as_deref()))]
pub struct CallError {
    /// Name of the function.
    pub call: &'static str,
    /// Error code.
    pub code: i32,
    /// Name of the error: `CUDA_ERROR_NO_DEVICE`.
    pub name: String,
    /// The library's description of the error.
    pub text: Option<String>,
}

fn in_parentheses(text: Option<&str>) -> String {
    text.map(|text| format!(" ({text})")).unwrap_or_default()
}

impl CallError {
    /// Whether the error makes the context unusable: it was caused by a kernel, and every later call fails
    /// too.
    pub fn is_sticky(&self) -> bool {
        const STICKY: [i32; 12] = [214, 220, 700, 702, 710, 713, 714, 715, 716, 717, 718, 719];
        STICKY.contains(&self.code) || self.code == 999
    }
}

/// A module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct LoadFailure {
    /// The error of the call.
    pub error: CallError,
    /// Messages of the compiler.
    pub log: String,
}

/// Description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Name: `NVIDIA H200`.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: Option<u32>,
    /// The highest clock rate of the multiprocessors in kHz.
    pub clock_khz: Option<u32>,
    /// The highest clock rate of the memory in kHz.
    pub memory_clock_khz: Option<u32>,
}

/// The loaded and initialized library.
pub struct DriverLibrary {
    functions: Functions,
    // Dropped last, because it contains the functions.
    _library: Library,
}

impl DriverLibrary {
    /// Loads the library at this path, or the one that the system's loader finds under [`LIBRARY`]. Loading
    /// runs its initialization, which is NVIDIA's code.
    ///
    /// Modules that the driver compiled earlier may come from a cache on disk, unless the process was started
    /// with `CUDA_CACHE_DISABLE=1`.
    pub fn load(path: Option<&Path>) -> Result<DriverLibrary, DriverLoadError> {
        // SAFETY: the effects of a library's initialization cannot be known. The user chooses the library,
        // and the caller loads it in a process that may crash.
        let library = unsafe { Library::new(path.unwrap_or(Path::new(LIBRARY)))? };
        // SAFETY: the types are those of NVIDIA's documentation, which a library of this name follows.
        let functions = unsafe { Functions::find(&library)? };
        Ok(DriverLibrary { functions, _library: library })
    }

    /// Initializes the driver. Must succeed before any call except [`version`](DriverLibrary::version).
    pub fn init(&self) -> Result<(), CallError> {
        // SAFETY: the only value allowed for the flags is 0.
        self.check("cuInit", unsafe { (self.functions.init)(0) })
    }

    /// Returns the CUDA release that the driver supports: `(13, 0)`. `None` if it does not report one.
    pub fn version(&self) -> Option<(u32, u32)> {
        let mut version = 0;
        // SAFETY: the number outlives the call. This function may be called before `cuInit`.
        let status = unsafe { (self.functions.version)(&mut version) };
        // 1000 times the major number and 10 times the minor one.
        let version = u32::try_from(version).ok().filter(|version| status == 0 && *version > 0)?;
        Some((version / 1000, version % 1000 / 10))
    }

    /// Returns the number of devices.
    pub fn devices(&self) -> Result<u32, CallError> {
        let mut count = 0;
        // SAFETY: the number outlives the call.
        self.check("cuDeviceGetCount", unsafe { (self.functions.device_count)(&mut count) })?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Describes a device; `index` counts from 0.
    pub fn device(&self, index: u32) -> Result<Device, CallError> {
        let device = self.handle(index)?;
        let mut name = [0u8; 256];
        // SAFETY: the buffer is one byte longer than the length passed; that last byte stays zero.
        let status = unsafe {
            (self.functions.device_name)(name.as_mut_ptr().cast(), name.len() as c_int - 1, device)
        };
        self.check("cuDeviceGetName", status)?;
        let name = CStr::from_bytes_until_nul(&name).map(CStr::to_string_lossy).unwrap_or_default();
        let major = self.attribute(device, functions::CAPABILITY_MAJOR)?;
        let minor = self.attribute(device, functions::CAPABILITY_MINOR)?;
        Ok(Device {
            name: name.trim().to_owned(),
            capability: (major, minor),
            multiprocessors: self.known_attribute(device, functions::MULTIPROCESSORS),
            clock_khz: self.known_attribute(device, functions::CLOCK_RATE),
            memory_clock_khz: self.known_attribute(device, functions::MEMORY_CLOCK_RATE),
        })
    }

    fn attribute(&self, device: functions::Device, attribute: c_int) -> Result<u32, CallError> {
        let mut value = 0;
        // SAFETY: the number outlives the call.
        let status = unsafe { (self.functions.device_attribute)(&mut value, attribute, device) };
        self.check("cuDeviceGetAttribute", status)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Returns an attribute; `None` if the driver does not report it.
    fn known_attribute(&self, device: functions::Device, attribute: c_int) -> Option<u32> {
        self.attribute(device, attribute).ok().filter(|value| *value > 0)
    }

    fn handle(&self, index: u32) -> Result<functions::Device, CallError> {
        let mut device = 0;
        // SAFETY: the handle outlives the call; any index is allowed.
        let status = unsafe { (self.functions.device)(&mut device, index as c_int) };
        self.check("cuDeviceGet", status)?;
        Ok(device)
    }

    /// Creates a context on a device. It is current on this thread until it is dropped.
    pub fn context(&self, index: u32) -> Result<DriverContext<'_>, CallError> {
        let device = self.handle(index)?;
        let mut context = ptr::null_mut();
        // SAFETY: the handle is written by the call and outlives it; 0 stands for the default flags.
        self.check("cuCtxCreate", unsafe { (self.functions.create_context)(&mut context, 0, device) })?;
        Ok(DriverContext { driver: self, context, _not_send: PhantomData })
    }

    fn check(&self, call: &'static str, status: functions::Status) -> Result<(), CallError> {
        if status == 0 { Ok(()) } else { Err(self.error(call, status)) }
    }

    fn error(&self, call: &'static str, code: functions::Status) -> CallError {
        // SAFETY: these functions of the library accept any number.
        let (name, text) = unsafe {
            (error_text(self.functions.error_name, code), error_text(self.functions.error_string, code))
        };
        CallError { call, code, name: name.unwrap_or_else(|| "of unknown name".to_owned()), text }
    }
}

/// Returns the text that the library has for an error.
///
/// # Safety
/// `function` must be a function of the loaded library that writes a string for any number.
unsafe fn error_text(
    function: unsafe extern "C" fn(functions::Status, *mut *const c_char) -> functions::Status,
    code: functions::Status,
) -> Option<String> {
    let mut text: *const c_char = ptr::null();
    // SAFETY: the pointer outlives the call; any number is allowed.
    let status = unsafe { function(code, &mut text) };
    // SAFETY: a non-null pointer after success is a string that the library owns and keeps as long as it is
    // loaded.
    (status == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A context, which owns modules and device memory.
pub struct DriverContext<'a> {
    driver: &'a DriverLibrary,
    context: functions::Context,
    // Current on the thread that created it.
    _not_send: PhantomData<*mut c_void>,
}

impl DriverContext<'_> {
    /// Loads a module: PTX source, which the driver compiles, or a cubin. Also returns the messages of the
    /// compiler, including warnings.
    ///
    /// The compiler may hang or crash on a bad module, so this may not return.
    pub fn load(&self, image: &[u8]) -> Result<(LoadedModule<'_>, String), LoadFailure> {
        // PTX source must end with a zero byte. A cubin contains its length, and one more byte after it does
        // no harm.
        let mut image = image.to_vec();
        image.push(0);
        let mut info = vec![0u8; LOG];
        let mut errors = vec![0u8; LOG];
        let mut options =
            [functions::INFO_LOG, functions::INFO_LOG_SIZE, functions::ERROR_LOG, functions::ERROR_LOG_SIZE];
        // The option's value is a number in place of a pointer; the library overwrites it with the length
        // used.
        let size: *mut c_void = ptr::without_provenance_mut(LOG - 1);
        let mut values: [*mut c_void; 4] = [info.as_mut_ptr().cast(), size, errors.as_mut_ptr().cast(), size];
        let mut module = ptr::null_mut();
        // SAFETY: the counts of options and values are correct, and each value has the kind that its option
        // requires; the image, both buffers and the handle outlive the call; the image ends with a zero byte.
        let status = unsafe {
            (self.driver.functions.load)(
                &mut module,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let mut log = String::new();
        for bytes in [&errors, &info] {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            log.push_str(&String::from_utf8_lossy(&bytes[..end]));
            if !log.is_empty() && !log.ends_with('\n') {
                log.push('\n');
            }
        }
        match self.driver.check("cuModuleLoadDataEx", status) {
            Ok(()) => Ok((LoadedModule { context: self, module: Some(module) }, log)),
            Err(error) => Err(LoadFailure { error, log }),
        }
    }

    /// Copies from device memory. Fails with error 1 if the range is not entirely memory of this context.
    pub fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, CallError> {
        let mut bytes = vec![0; length];
        if length > 0 {
            // SAFETY: the buffer has that length; the library checks the device's side.
            let status =
                unsafe { (self.driver.functions.copy_to_host)(bytes.as_mut_ptr().cast(), address, length) };
            self.driver.check("cuMemcpyDtoH", status)?;
        }
        Ok(bytes)
    }

    /// Copies to device memory. Fails with error 1 if the range is not entirely memory of this context.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CallError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the buffer has that length; the library checks the device's side.
        let status =
            unsafe { (self.driver.functions.copy_to_device)(address, bytes.as_ptr().cast(), bytes.len()) };
        self.driver.check("cuMemcpyHtoD", status)
    }

    /// Waits until all launched kernels have ended.
    pub fn synchronize(&self) -> Result<(), CallError> {
        // SAFETY: the function has no arguments, and the context is current.
        self.driver.check("cuCtxSynchronize", unsafe { (self.driver.functions.synchronize)() })
    }

    fn fill(&self, address: u64, byte: u8, length: usize) -> Result<(), CallError> {
        // SAFETY: the library checks that the range is memory of this context.
        let status = unsafe { (self.driver.functions.fill)(address, byte, length) };
        self.driver.check("cuMemsetD8", status)
    }

    /// Allocates device memory; its content is undefined.
    pub fn allocate(&self, length: usize) -> Result<Buffer<'_>, CallError> {
        let mut address = 0;
        // SAFETY: the address outlives the call; it is freed once, where the buffer is dropped.
        let status = unsafe { (self.driver.functions.allocate)(&mut address, length) };
        self.driver.check("cuMemAlloc", status)?;
        Ok(Buffer { context: self, address })
    }
}

impl Drop for DriverContext<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `cuCtxCreate`, destroyed once; modules and buffers borrow it and are gone. A
        // failure leaves nothing to be done.
        unsafe { (self.driver.functions.destroy_context)(self.context) };
    }
}

/// Device memory that is freed when dropped.
pub struct Buffer<'a> {
    context: &'a DriverContext<'a>,
    address: u64,
}

impl Buffer<'_> {
    /// Returns the address of the buffer.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated by `cuMemAlloc`, freed once.
        unsafe { (self.context.driver.functions.free)(self.address) };
    }
}

/// The output of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOutput {
    /// Contents of the output buffer.
    pub bytes: Vec<u8>,
    /// Whether the kernel also wrote before or after the buffer.
    pub wrote_outside: bool,
}

/// A loaded module.
pub struct LoadedModule<'a> {
    context: &'a DriverContext<'a>,
    module: Option<functions::Module>,
}

impl LoadedModule<'_> {
    /// Returns the address of a variable and its size in bytes; `None` if the module exports no variable of
    /// this name.
    pub fn global(&self, name: &str) -> Result<Option<(u64, usize)>, CallError> {
        let (Ok(name), Some(module)) = (CString::new(name), self.module) else { return Ok(None) };
        let mut address = 0;
        let mut size = 0;
        let driver = self.context.driver;
        // SAFETY: the module is loaded; name, address and size outlive the call.
        let status = unsafe { (driver.functions.global)(&mut address, &mut size, module, name.as_ptr()) };
        match status {
            NOT_FOUND => Ok(None),
            status => driver.check("cuModuleGetGlobal", status).map(|()| Some((address, size))),
        }
    }

    /// Returns the kernel of this name; `None` if the module exports none.
    pub fn function(&self, kernel: &str) -> Result<Option<LoadedKernel<'_>>, CallError> {
        let (Ok(name), Some(module)) = (CString::new(kernel), self.module) else { return Ok(None) };
        let driver = self.context.driver;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded; name and handle outlive the call.
        let status = unsafe { (driver.functions.function)(&mut function, module, name.as_ptr()) };
        match status {
            NOT_FOUND => Ok(None),
            status => driver
                .check("cuModuleGetFunction", status)
                .map(|()| Some(LoadedKernel { context: self.context, function })),
        }
    }

    /// Runs a kernel on one thread and waits for its end. The kernel has one parameter: the address of an
    /// output buffer of `length` bytes, which is zero at the start. Returns `None` if the module exports no
    /// kernel of this name.
    ///
    /// A kernel that does not end is not stopped.
    pub fn run(&self, kernel: &str, length: usize) -> Result<Option<KernelOutput>, CallError> {
        let Some(function) = self.function(kernel)? else { return Ok(None) };
        let buffer = self.context.allocate(length + 2 * GUARD)?;
        self.context.fill(buffer.address, GUARD_BYTE, length + 2 * GUARD)?;
        let out = buffer.address + GUARD as u64;
        if length > 0 {
            self.context.fill(out, 0, length)?;
        }
        function.launch(&out.to_ne_bytes())?;
        self.context.synchronize()?;
        let all = self.context.read(buffer.address, length + 2 * GUARD)?;
        let guards = all[..GUARD].iter().chain(&all[GUARD + length..]);
        let wrote_outside = guards.into_iter().any(|byte| *byte != GUARD_BYTE);
        Ok(Some(KernelOutput { bytes: all[GUARD..GUARD + length].to_vec(), wrote_outside }))
    }

    /// Unloads the module, as dropping it does, and returns the result.
    pub fn unload(mut self) -> Result<(), CallError> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<(), CallError> {
        let Some(module) = self.module.take() else { return Ok(()) };
        let driver = self.context.driver;
        // SAFETY: loaded by `cuModuleLoadDataEx`, and taken out of `self` so that this happens once.
        driver.check("cuModuleUnload", unsafe { (driver.functions.unload)(module) })
    }
}

impl Drop for LoadedModule<'_> {
    fn drop(&mut self) {
        let _ = self.give_back();
    }
}

/// A kernel of a loaded module.
pub struct LoadedKernel<'a> {
    context: &'a DriverContext<'a>,
    function: functions::Function,
}

impl LoadedKernel<'_> {
    /// Starts the kernel on one thread with these bytes as its parameters, each at its alignment. Fails if
    /// the kernel's parameters have another total size.
    ///
    /// [`DriverContext::synchronize`] waits for its end and returns the result.
    pub fn launch(&self, parameters: &[u8]) -> Result<(), CallError> {
        let mut bytes = parameters.to_vec();
        let mut size = bytes.len();
        // Pass the parameters as one buffer of known size, so that the driver reads nothing after it.
        let mut list: [*mut c_void; 5] = [
            functions::PARAMETER_BUFFER,
            bytes.as_mut_ptr().cast(),
            functions::PARAMETER_BUFFER_SIZE,
            ptr::from_mut(&mut size).cast(),
            ptr::null_mut(),
        ];
        let driver = self.context.driver;
        // SAFETY: the function belongs to a loaded module; the parameter list ends with null, and its targets
        // outlive the call, which copies them. One block of one thread, no shared memory, the default stream.
        let status = unsafe {
            (driver.functions.launch)(
                self.function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                list.as_mut_ptr(),
            )
        };
        driver.check("cuLaunchKernel", status)
    }
}

/// `CUDA_ERROR_NOT_FOUND`
const NOT_FOUND: functions::Status = 500;
