//! What a process that compiles module after module tells the allocator.

/// Has memory that is freed kept for the next module.
///
/// A compiler takes some megabytes for a module and frees them. glibc returns them to the system each time, which then
/// clears them page by page for the next module. Elsewhere than with glibc this does nothing.
pub fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        /// `M_TRIM_THRESHOLD`, `M_MMAP_THRESHOLD`, and the most that glibc takes for the latter.
        const KEPT: [(c_int, c_int); 2] = [(-1, 1 << 29), (-3, 1 << 25)];
        for (parameter, value) in KEPT {
            // SAFETY: two numbers are passed by value. One that glibc does not know it ignores, and says so.
            unsafe { mallopt(parameter, value) };
        }
    }
}
