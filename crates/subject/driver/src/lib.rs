//! The CUDA driver (`libcuda.so.1`), loaded at run time: modules in, device memory out.
//!
//! The library compiles PTX in the process that loads it, and a kernel that goes wrong can leave the context useless: call
//! it in a process of its own. No CUDA is needed to build this. Nothing here knows what PTX is.
//!
//! [`Driver::load`] → [`Driver::context`] → [`Context::load`] → [`Module::global`], [`Module::run`]. Whatever is made is
//! given back when it is dropped, in the order that the library asks for.

mod functions;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;

use functions::Functions;
use libloading::Library;

/// The name under which the loader of the system knows the library.
pub const LIBRARY: &str = "libcuda.so.1";

/// Bytes for each of the two logs of a compilation.
const LOG: usize = 1 << 18;
/// Bytes before and behind an output buffer that no kernel may touch.
const GUARD: usize = 256;
/// What they hold.
const GUARD_BYTE: u8 = 0xa5;

/// Why the library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is not there, is no library of this machine, or lacks what it depends on.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// It lacks a function.
    #[error("it has no {0}: not the CUDA driver, or one older than CUDA 6.5")]
    Lacks(&'static str),
}

/// A call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: error {code}, {name}{}", .text.as_deref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct CallError {
    /// The function.
    pub call: &'static str,
    /// The number of the error.
    pub code: i32,
    /// Its name: `CUDA_ERROR_NO_DEVICE`.
    pub name: String,
    /// What the library says about it.
    pub text: Option<String>,
}

impl CallError {
    /// Whether the context is of no use any more after this error: what a kernel did is why, and every later call fails too.
    pub fn is_sticky(&self) -> bool {
        const STICKY: [i32; 12] = [214, 220, 700, 702, 710, 713, 714, 715, 716, 717, 718, 719];
        STICKY.contains(&self.code) || self.code == 999
    }
}

/// A module that was not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Refused {
    /// What the call gave.
    pub error: CallError,
    /// What the compiler printed.
    pub log: String,
}

/// A device, as the driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name: `NVIDIA H200`.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: Option<u32>,
    /// The highest clock rate of the multiprocessors in kHz.
    pub clock_khz: Option<u32>,
    /// The highest clock rate of the memory in kHz.
    pub memory_clock_khz: Option<u32>,
}

/// The library, loaded and initialized.
pub struct Driver {
    functions: Functions,
    // Dropped last: the functions are in it.
    _library: Library,
}

impl Driver {
    /// Loads the library at this path, or the one that the system's loader finds under [`LIBRARY`]. Loading runs its
    /// initialization, which is NVIDIA's code.
    ///
    /// Modules that the driver compiled earlier may come from a cache on disk, unless the process was started with
    /// `CUDA_CACHE_DISABLE=1`.
    pub fn load(path: Option<&Path>) -> Result<Driver, LoadError> {
        // SAFETY: what the initialization of a library does cannot be known. It is the user who names the library, and the
        // caller who does this in a process that may die.
        let library = unsafe { Library::new(path.unwrap_or(Path::new(LIBRARY)))? };
        // SAFETY: the types are those of NVIDIA's documentation; a library of this name has them.
        let functions = unsafe { Functions::find(&library)? };
        Ok(Driver { functions, _library: library })
    }

    /// Looks for devices. Must succeed before anything else but [`version`](Driver::version).
    pub fn init(&self) -> Result<(), CallError> {
        // SAFETY: the only value allowed for the flags is 0.
        self.check("cuInit", unsafe { (self.functions.init)(0) })
    }

    /// The release of CUDA that the driver is made for: `(13, 0)`. `None` where it does not say.
    pub fn version(&self) -> Option<(u32, u32)> {
        let mut version = 0;
        // SAFETY: the number outlives the call. This one may be called before `cuInit`.
        let status = unsafe { (self.functions.version)(&mut version) };
        // 1000 times the major number and 10 times the minor one.
        let version = u32::try_from(version).ok().filter(|version| status == 0 && *version > 0)?;
        Some((version / 1000, version % 1000 / 10))
    }

    /// How many devices there are.
    pub fn devices(&self) -> Result<u32, CallError> {
        let mut count = 0;
        // SAFETY: the number outlives the call.
        self.check("cuDeviceGetCount", unsafe { (self.functions.device_count)(&mut count) })?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Describes a device, counted from 0.
    pub fn device(&self, index: u32) -> Result<Device, CallError> {
        let device = self.handle(index)?;
        let mut name = [0u8; 256];
        // SAFETY: the buffer has the length that is told, but for a last byte that stays zero.
        let status = unsafe {
            (self.functions.device_name)(name.as_mut_ptr().cast(), name.len() as c_int - 1, device)
        };
        self.check("cuDeviceGetName", status)?;
        let name = CStr::from_bytes_until_nul(&name).map(CStr::to_string_lossy).unwrap_or_default();
        let attribute = |which: c_int| -> Result<u32, CallError> {
            let mut value = 0;
            // SAFETY: the number outlives the call.
            let status = unsafe { (self.functions.device_attribute)(&mut value, which, device) };
            self.check("cuDeviceGetAttribute", status)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let capability = (attribute(functions::CAPABILITY_MAJOR)?, attribute(functions::CAPABILITY_MINOR)?);
        let known = |which| attribute(which).ok().filter(|value| *value > 0);
        Ok(Device {
            name: name.trim().to_owned(),
            capability,
            multiprocessors: known(functions::MULTIPROCESSORS),
            clock_khz: known(functions::CLOCK_RATE),
            memory_clock_khz: known(functions::MEMORY_CLOCK_RATE),
        })
    }

    fn handle(&self, index: u32) -> Result<functions::Device, CallError> {
        let mut device = 0;
        // SAFETY: the handle outlives the call; any index may be asked for.
        let status = unsafe { (self.functions.device)(&mut device, index as c_int) };
        self.check("cuDeviceGet", status)?;
        Ok(device)
    }

    /// Makes a context on a device, current to this thread until it is dropped.
    pub fn context(&self, index: u32) -> Result<Context<'_>, CallError> {
        let device = self.handle(index)?;
        let mut context = ptr::null_mut();
        // SAFETY: the handle is written by the call and outlives it; 0 are the default flags.
        self.check("cuCtxCreate", unsafe { (self.functions.create_context)(&mut context, 0, device) })?;
        Ok(Context { driver: self, context, _not_send: PhantomData })
    }

    fn check(&self, call: &'static str, status: functions::Status) -> Result<(), CallError> {
        if status == 0 { Ok(()) } else { Err(self.error(call, status)) }
    }

    fn error(&self, call: &'static str, code: functions::Status) -> CallError {
        let text = |of: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
            let mut text: *const c_char = ptr::null();
            // SAFETY: the pointer outlives the call; any number may be asked for.
            let status = unsafe { of(code, &mut text) };
            // SAFETY: a pointer that is not null after success is a string of the library's that lives as long as it.
            (status == 0 && !text.is_null())
                .then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.functions.error_name).unwrap_or_else(|| "of unknown name".to_owned());
        CallError { call, code, name, text: text(self.functions.error_string) }
    }
}

/// A context: what modules are loaded into and memory is taken from.
pub struct Context<'a> {
    driver: &'a Driver,
    context: functions::Context,
    // Current to the thread that made it.
    _not_send: PhantomData<*mut c_void>,
}

impl Context<'_> {
    /// Loads a module: the text of one in PTX, which the driver compiles, or a cubin. What the compiler prints, warnings too,
    /// comes with it.
    ///
    /// What the compiler does with a bad module is its own matter: this may not return.
    pub fn load(&self, image: &[u8]) -> Result<(Module<'_>, String), Refused> {
        // A text ends with a zero byte; a cubin tells its length, and one more byte behind it does no harm.
        let mut image = image.to_vec();
        image.push(0);
        let (mut info, mut errors) = (vec![0u8; LOG], vec![0u8; LOG]);
        let mut options =
            [functions::INFO_LOG, functions::INFO_LOG_SIZE, functions::ERROR_LOG, functions::ERROR_LOG_SIZE];
        // A number is passed in the place of a pointer, and the library writes there how much it used.
        let size: *mut c_void = ptr::without_provenance_mut(LOG - 1);
        let mut values: [*mut c_void; 4] = [info.as_mut_ptr().cast(), size, errors.as_mut_ptr().cast(), size];
        let mut module = ptr::null_mut();
        // SAFETY: options and values are as many as told, each value of the kind that its option asks for; the image, both
        // buffers and the handle outlive the call; the image ends with a zero byte.
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
            Ok(()) => Ok((Module { context: self, module: Some(module) }, log)),
            Err(error) => Err(Refused { error, log }),
        }
    }

    /// Copies device memory. Error 1 where not all of it is memory of this context.
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

    /// Writes bytes into device memory. Error 1 where not all of it is memory of this context.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CallError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the buffer has that length; the library checks the device's side.
        let status =
            unsafe { (self.driver.functions.copy_to_device)(address, bytes.as_ptr().cast(), bytes.len()) };
        self.driver.check("cuMemcpyHtoD", status)
    }

    /// Waits for the end of all kernels that were started.
    pub fn synchronize(&self) -> Result<(), CallError> {
        // SAFETY: it has no arguments, and the context is current.
        self.driver.check("cuCtxSynchronize", unsafe { (self.driver.functions.synchronize)() })
    }

    fn fill(&self, address: u64, byte: u8, length: usize) -> Result<(), CallError> {
        // SAFETY: the library checks that the range is memory of this context.
        let status = unsafe { (self.driver.functions.fill)(address, byte, length) };
        self.driver.check("cuMemsetD8", status)
    }

    /// Takes device memory of this length, whose content is not known.
    pub fn allocate(&self, length: usize) -> Result<Buffer<'_>, CallError> {
        let mut address = 0;
        // SAFETY: the address outlives the call; it is freed once, where the buffer is dropped.
        let status = unsafe { (self.driver.functions.allocate)(&mut address, length) };
        self.driver.check("cuMemAlloc", status)?;
        Ok(Buffer { context: self, address })
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `cuCtxCreate`, destroyed once; modules and buffers borrow it and are gone. A failure leaves nothing
        // to be done.
        unsafe { (self.driver.functions.destroy_context)(self.context) };
    }
}

/// Device memory that is given back when it is dropped.
pub struct Buffer<'a> {
    context: &'a Context<'a>,
    address: u64,
}

impl Buffer<'_> {
    /// Where it begins.
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

/// What a kernel left in its output buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The buffer.
    pub bytes: Vec<u8>,
    /// Whether the kernel also wrote before or behind it.
    pub wrote_outside: bool,
}

/// A module that is loaded.
pub struct Module<'a> {
    context: &'a Context<'a>,
    module: Option<functions::Module>,
}

impl Module<'_> {
    /// Where a variable is, and its size in bytes; `None` where the module shows none of this name.
    pub fn global(&self, name: &str) -> Result<Option<(u64, usize)>, CallError> {
        let (Ok(name), Some(module)) = (CString::new(name), self.module) else { return Ok(None) };
        let (mut address, mut size) = (0, 0);
        let driver = self.context.driver;
        // SAFETY: the module is loaded; name, address and size outlive the call.
        let status = unsafe { (driver.functions.global)(&mut address, &mut size, module, name.as_ptr()) };
        match status {
            NOT_FOUND => Ok(None),
            status => driver.check("cuModuleGetGlobal", status).map(|()| Some((address, size))),
        }
    }

    /// The kernel of a name; `None` where the module shows none.
    pub fn function(&self, kernel: &str) -> Result<Option<Function<'_>>, CallError> {
        let (Ok(name), Some(module)) = (CString::new(kernel), self.module) else { return Ok(None) };
        let driver = self.context.driver;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded; name and handle outlive the call.
        let status = unsafe { (driver.functions.function)(&mut function, module, name.as_ptr()) };
        match status {
            NOT_FOUND => Ok(None),
            status => driver
                .check("cuModuleGetFunction", status)
                .map(|()| Some(Function { context: self.context, function })),
        }
    }

    /// Runs a kernel of one parameter, the address of an output buffer of this length, on one thread, and waits for its end.
    /// The buffer is zero before. `None` where the module shows no kernel of this name.
    ///
    /// A kernel that does not end is not stopped.
    pub fn run(&self, kernel: &str, length: usize) -> Result<Option<Ran>, CallError> {
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
        Ok(Some(Ran { bytes: all[GUARD..GUARD + length].to_vec(), wrote_outside }))
    }

    /// Gives the module back, as dropping it does, and tells what came of it.
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

impl Drop for Module<'_> {
    fn drop(&mut self) {
        let _ = self.give_back();
    }
}

/// A kernel of a module that is loaded.
pub struct Function<'a> {
    context: &'a Context<'a>,
    function: functions::Function,
}

impl Function<'_> {
    /// Starts the kernel on one thread, with these bytes as its parameters, each at its alignment. A kernel with parameters of
    /// another size is refused.
    ///
    /// [`Context::synchronize`] waits for its end, and tells what came of it.
    pub fn launch(&self, parameters: &[u8]) -> Result<(), CallError> {
        let mut bytes = parameters.to_vec();
        let mut size = bytes.len();
        // The parameters as one buffer of a known size: nothing behind it is read.
        let mut list: [*mut c_void; 5] = [
            functions::PARAMETER_BUFFER,
            bytes.as_mut_ptr().cast(),
            functions::PARAMETER_BUFFER_SIZE,
            ptr::from_mut(&mut size).cast(),
            ptr::null_mut(),
        ];
        let driver = self.context.driver;
        // SAFETY: the function is of a module that is loaded; the list of parameters ends with null, and what it points to
        // outlives the call, which copies it. One block of one thread, no shared memory, the default stream.
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
