//! A library with the functions of the CUDA driver but without a device, for tests of code that calls the
//! driver.
//!
//! It answers from the script (format: `script.rs`) that the environment variable `PTXSMITH_DRIVER_STUB`
//! names; without a script it is a driver without devices. It checks memory as the real driver does: a range
//! that is not allocated is error 1. It counts created and released objects, so that tests can detect leaks.
//!
//! Variables are placed in the order of the script, aligned to 16 bytes, each followed by the next fence
//! (`__ptxsmith_fence_0` and so on) in the module's source.

mod script;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard};

use script::{ScriptedEffect, StubScript};

/// Environment variable with the path of the script.
pub const SCRIPT: &str = "PTXSMITH_DRIVER_STUB";

/// Number of counters: created and released contexts, modules and allocations, in this order; then launched
/// kernels.
pub const COUNTS: usize = 7;

const INVALID_VALUE: c_int = 1;
const NO_DEVICE: c_int = 100;
const INVALID_DEVICE: c_int = 101;
const INVALID_HANDLE: c_int = 400;
const NOT_FOUND: c_int = 500;

#[derive(Default)]
struct StubState {
    script: StubScript,
    next: u64,
    memory: BTreeMap<u64, Vec<u8>>,
    modules: BTreeMap<u64, StubModule>,
    /// Module and name of each function that was returned; its handle is the index in this list, from 1.
    functions: Vec<(u64, String)>,
    /// Pending error of the launched kernels.
    pending: c_int,
    sticky: c_int,
    counts: [u64; COUNTS],
}

#[derive(Default)]
struct StubModule {
    image: String,
    base: u64,
    globals: BTreeMap<String, (u64, usize)>,
}

static STATE: LazyLock<Mutex<StubState>> = LazyLock::new(|| {
    let script = match std::env::var_os(SCRIPT) {
        Some(path) => std::fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|text| StubScript::parse(&text))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        None => StubScript::default(),
    };
    Mutex::new(StubState { script, next: 0x7f00_0000_0000, ..StubState::default() })
});

/// Returns the state, or the error that the script assigns to this function.
fn enter(call: &str) -> Result<MutexGuard<'static, StubState>, c_int> {
    let state = STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let scripted = state.script.errors.iter().find(|(name, _)| name == call).map(|(_, code)| *code);
    match scripted.unwrap_or(state.sticky) {
        0 => Ok(state),
        code => Err(code),
    }
}

fn status(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(0)
}

impl StubState {
    fn allocate(&mut self, bytes: Vec<u8>) -> u64 {
        let address = self.next;
        self.next += (bytes.len() as u64 + 511) & !511;
        self.memory.insert(address, bytes);
        address
    }

    /// Returns a range of memory that lies within one allocation.
    fn range(&mut self, address: u64, length: usize) -> Result<&mut [u8], c_int> {
        let (base, bytes) = self.memory.range_mut(..=address).next_back().ok_or(INVALID_VALUE)?;
        let start = (address - base) as usize;
        let end = start.checked_add(length).ok_or(INVALID_VALUE)?;
        bytes.get_mut(start..end).ok_or(INVALID_VALUE)
    }

    fn load(&mut self, image: String) -> StubModule {
        let words = words(&image);
        let mut fences = words.iter().filter(|word| word.starts_with("__ptxsmith_fence_"));
        let mut bytes = Vec::new();
        let mut places = BTreeMap::new();
        for variable in self.script.variables.iter().filter(|variable| words.contains(&&*variable.name)) {
            bytes.resize(bytes.len().next_multiple_of(16), 0);
            places.insert(variable.name.clone(), (bytes.len(), variable.bytes.len()));
            bytes.extend_from_slice(&variable.bytes);
            if let Some(fence) = fences.next() {
                places.insert((*fence).to_owned(), (bytes.len(), 8));
                bytes.extend([0xa5; 8]);
            }
        }
        let base = self.next;
        for slot in &self.script.slots {
            let (Some((place, _)), Some((symbol, _))) =
                (places.get(&slot.variable), places.get(&slot.symbol))
            else {
                continue;
            };
            let value = (base + *symbol as u64).wrapping_add_signed(slot.addend).to_le_bytes();
            let at = place + slot.offset;
            bytes.resize(bytes.len().max(at + slot.width), 0);
            bytes[at..at + slot.width].copy_from_slice(&value[..slot.width]);
        }
        let base = self.allocate(bytes);
        let globals =
            places.into_iter().map(|(name, (place, size))| (name, (base + place as u64, size))).collect();
        StubModule { image, base, globals }
    }
}

/// Splits a module's source into names and numbers.
fn words(image: &str) -> Vec<&str> {
    image.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

unsafe extern "C" {
    fn raise(signal: c_int) -> c_int;
}

/// Writes through a pointer of the caller.
///
/// # Safety
/// The pointer must be null or valid for a write.
unsafe fn put<T>(to: *mut T, value: T) -> Result<(), c_int> {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null, so the caller guarantees that it is valid for a write.
    unsafe { to.write(value) };
    Ok(())
}

/// Reads a C string.
///
/// # Safety
/// The pointer must be null or point to a string that ends with a zero byte.
unsafe fn text(from: *const c_char) -> Result<String, c_int> {
    if from.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null, so the caller guarantees that it is a string.
    Ok(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}

/// Returns the start of an image's text: the image itself, or the bytes after an ELF header, since the tests
/// build cubins as a header with text.
///
/// # Safety
/// The image must be null, a text that ends with a zero byte, or an ELF header followed by such a text.
unsafe fn behind_header(image: *const c_void) -> *const c_void {
    let magic = *b"\x7fELF";
    // SAFETY: the comparison stops at the first byte that differs, so it does not read past the end of a
    // shorter text.
    let is_elf = !image.is_null() && (0..4).all(|at| unsafe { *image.cast::<u8>().add(at) } == magic[at]);
    // SAFETY: the caller guarantees that text follows the ELF header of 64 bytes.
    if is_elf { unsafe { image.byte_add(64) } } else { image }
}

/// Writes the current counts, [`COUNTS`] numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxsmith_driver_stub_counts(to: *mut [u64; COUNTS]) -> c_int {
    let counts = STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).counts;
    // SAFETY: the caller, one of our tests, passes space for the counts.
    status(unsafe { put(to, counts) })
}

#[unsafe(no_mangle)]
extern "C" fn cuInit(_flags: c_uint) -> c_int {
    match enter("cuInit") {
        // The tests exercise a compiler, so the cache must be disabled.
        Ok(_) if std::env::var_os("CUDA_CACHE_DISABLE").is_none_or(|value| value != "1") => 999,
        Ok(state) if state.script.devices == 0 => NO_DEVICE,
        Ok(_) => 0,
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(to: *mut c_int) -> c_int {
    // SAFETY: the caller follows the documentation of the function.
    status(enter("cuDriverGetVersion").and_then(|state| unsafe { put(to, state.script.version) }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(code: c_int, to: *mut *const c_char) -> c_int {
    let name = match code {
        INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
        2 => c"CUDA_ERROR_OUT_OF_MEMORY",
        NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
        209 => c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        218 => c"CUDA_ERROR_INVALID_PTX",
        222 => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        NOT_FOUND => c"CUDA_ERROR_NOT_FOUND",
        700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        _ => return INVALID_VALUE,
    };
    // SAFETY: the caller follows the documentation of the function.
    status(unsafe { put(to, name.as_ptr()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(_code: c_int, to: *mut *const c_char) -> c_int {
    // SAFETY: the caller follows the documentation of the function.
    status(unsafe { put(to, c"as the script says".as_ptr()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetCount(to: *mut c_int) -> c_int {
    // SAFETY: the caller follows the documentation of the function.
    status(enter("cuDeviceGetCount").and_then(|state| unsafe { put(to, state.script.devices) }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(to: *mut c_int, index: c_int) -> c_int {
    status(enter("cuDeviceGet").and_then(|state| {
        let there = (0..state.script.devices).contains(&index);
        // SAFETY: the caller follows the documentation of the function.
        if there { unsafe { put(to, index) } } else { Err(INVALID_DEVICE) }
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(to: *mut c_char, length: c_int, _device: c_int) -> c_int {
    status(enter("cuDeviceGetName").and_then(|state| {
        let length = usize::try_from(length).map_err(|_| INVALID_VALUE)?;
        let bytes = state.script.name.bytes().chain([0]).take(length);
        for (index, byte) in bytes.enumerate() {
            // SAFETY: the documentation asks for a buffer of that length.
            unsafe { put(to.add(index), byte as c_char)? };
        }
        Ok(())
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetAttribute(to: *mut c_int, attribute: c_int, _device: c_int) -> c_int {
    status(enter("cuDeviceGetAttribute").and_then(|state| {
        let (major, minor) = state.script.capability;
        let value = match attribute {
            13 => 1_000_000,
            16 => 4,
            36 => 2_000_000,
            75 => major,
            76 => minor,
            _ => return Err(INVALID_VALUE),
        };
        // SAFETY: the caller follows the documentation of the function.
        unsafe { put(to, value) }
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxCreate_v2(to: *mut *mut c_void, _flags: c_uint, _device: c_int) -> c_int {
    status(enter("cuCtxCreate").and_then(|mut state| {
        state.counts[0] += 1;
        // SAFETY: the caller follows the documentation of the function.
        unsafe { put(to, std::ptr::without_provenance_mut(1)) }
    }))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxDestroy_v2(_context: *mut c_void) -> c_int {
    status(enter("cuCtxDestroy").map(|mut state| state.counts[1] += 1))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSynchronize() -> c_int {
    status(enter("cuCtxSynchronize").and_then(|mut state| {
        state.sticky = state.pending;
        if state.pending == 0 { Ok(()) } else { Err(state.pending) }
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    to: *mut *mut c_void,
    image: *const c_void,
    count: c_uint,
    options: *const c_int,
    values: *const *mut c_void,
) -> c_int {
    status(enter("cuModuleLoadDataEx").and_then(|mut state| {
        // SAFETY: the caller follows the documentation of the function.
        let image = unsafe { text(behind_header(image).cast()) }?;
        let words = words(&image);
        let fates = state.script.fates.iter().filter(|(word, _)| words.contains(&&**word));
        for (_, fate) in fates {
            match fate {
                ScriptedEffect::Load(code, log) => {
                    // SAFETY: the caller passes the number of options and values.
                    let (buffer, size) =
                        unsafe { (option(count, options, values, 5)?, option(count, options, values, 6)?) };
                    for (index, byte) in log.bytes().chain([0]).take(size as usize).enumerate() {
                        // SAFETY: the buffer has the size that its option gives.
                        unsafe { put(buffer.cast::<u8>().add(index), byte)? };
                    }
                    return Err(*code);
                }
                // SAFETY: `raise` has no preconditions.
                ScriptedEffect::Signal(signal) => drop(unsafe { raise(*signal) }),
                ScriptedEffect::Hang => loop {
                    std::thread::park();
                },
                ScriptedEffect::Launch(_) => {}
            }
        }
        let module = state.load(image);
        let handle = module.base.max(1);
        state.modules.insert(handle, module);
        state.counts[2] += 1;
        // SAFETY: the caller follows the documentation of the function.
        unsafe { put(to, std::ptr::without_provenance_mut(handle as usize)) }
    }))
}

/// Returns the value of an option.
///
/// # Safety
/// `options` and `values` must have `count` elements.
unsafe fn option(
    count: c_uint,
    options: *const c_int,
    values: *const *mut c_void,
    wanted: c_int,
) -> Result<*mut c_void, c_int> {
    (0..count as usize)
        // SAFETY: the caller guarantees the number of options and values.
        .find(|&index| unsafe { *options.add(index) } == wanted)
        // SAFETY: the same.
        .map(|index| unsafe { *values.add(index) })
        .ok_or(INVALID_VALUE)
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: *mut c_void) -> c_int {
    status(enter("cuModuleUnload").and_then(|mut state| {
        let module = state.modules.remove(&(module as u64)).ok_or(INVALID_HANDLE)?;
        state.memory.remove(&module.base);
        state.functions.clear();
        state.counts[3] += 1;
        Ok(())
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut u64,
    size: *mut usize,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    status(enter("cuModuleGetGlobal").and_then(|state| {
        // SAFETY: the caller follows the documentation of the function.
        let name = unsafe { text(name) }?;
        let module = state.modules.get(&(module as u64)).ok_or(INVALID_HANDLE)?;
        let (base, bytes) = module.globals.get(&name).ok_or(NOT_FOUND)?;
        // SAFETY: the caller follows the documentation of the function.
        unsafe { put(address, *base).and_then(|()| put(size, *bytes)) }
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(
    to: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    status(enter("cuModuleGetFunction").and_then(|mut state| {
        // SAFETY: the caller follows the documentation of the function.
        let name = unsafe { text(name) }?;
        let loaded = state.modules.get(&(module as u64)).ok_or(INVALID_HANDLE)?;
        let known = loaded.image.contains(&*name) && state.script.kernels.iter().any(|k| k.name == name);
        if !known {
            return Err(NOT_FOUND);
        }
        state.functions.push((module as u64, name));
        // SAFETY: the caller follows the documentation of the function.
        unsafe { put(to, std::ptr::without_provenance_mut(state.functions.len())) }
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAlloc_v2(to: *mut u64, length: usize) -> c_int {
    status(enter("cuMemAlloc").and_then(|mut state| {
        let address = state.allocate(vec![0; length]);
        state.counts[4] += 1;
        // SAFETY: the caller follows the documentation of the function.
        unsafe { put(to, address) }
    }))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    status(enter("cuMemFree").and_then(|mut state| {
        state.memory.remove(&address).ok_or(INVALID_VALUE)?;
        state.counts[5] += 1;
        Ok(())
    }))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8_v2(address: u64, byte: u8, length: usize) -> c_int {
    status(enter("cuMemsetD8").and_then(|mut state| {
        state.range(address, length)?.fill(byte);
        Ok(())
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, address: u64, length: usize) -> c_int {
    status(enter("cuMemcpyDtoH").and_then(|mut state| {
        let range = state.range(address, length)?;
        // SAFETY: the documentation requires a buffer of that length; it does not overlap the stub's own
        // memory.
        unsafe { range.as_ptr().copy_to_nonoverlapping(to.cast(), length) };
        Ok(())
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoD_v2(address: u64, from: *const c_void, length: usize) -> c_int {
    status(enter("cuMemcpyHtoD").and_then(|mut state| {
        let range = state.range(address, length)?;
        // SAFETY: the documentation requires a buffer of that length; it does not overlap the stub's own
        // memory.
        unsafe { range.as_mut_ptr().copy_from_nonoverlapping(from.cast(), length) };
        Ok(())
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    _grid_x: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    _block_x: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared: c_uint,
    _stream: *mut c_void,
    _parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> c_int {
    status(enter("cuLaunchKernel").and_then(|mut state| {
        let index = (function as usize).checked_sub(1).ok_or(INVALID_HANDLE)?;
        let (module, name) = state.functions.get(index).cloned().ok_or(INVALID_HANDLE)?;
        // SAFETY: our tests pass the parameters as a buffer with its size, in this order.
        let (kind, buffer, size) = unsafe { (*extra, *extra.add(1), (*extra.add(3)).cast::<usize>().read()) };
        if kind as usize != 1 || size < 8 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the buffer has at least eight bytes, as checked above; the first parameter is the address
        // of the output.
        let out = unsafe { buffer.cast::<u64>().read() };
        let writes = state.script.kernels.iter().find(|kernel| kernel.name == name).map(|k| k.bytes.clone());
        let writes = writes.unwrap_or_default();
        state.range(out, writes.len())?.copy_from_slice(&writes);
        state.counts[6] += 1;
        let words = words(&state.modules.get(&module).ok_or(INVALID_HANDLE)?.image);
        let fails = state.script.fates.iter().find_map(|(word, fate)| match fate {
            ScriptedEffect::Launch(code) if words.contains(&&**word) => Some(*code),
            _ => None,
        });
        state.pending = fails.unwrap_or(0);
        Ok(())
    }))
}
