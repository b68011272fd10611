//! Allocator settings for a process that compiles many modules.

/// Makes the allocator keep freed memory for the next module.
///
/// A compiler allocates some megabytes for a module and frees them. By default glibc returns them to the
/// system each time, which then has to clear new pages for the next module. Has no effect without glibc.
pub fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        /// `M_TRIM_THRESHOLD` and `M_MMAP_THRESHOLD`; the latter with the maximum that glibc accepts.
        const KEPT: [(c_int, c_int); 2] = [(-1, 1 << 29), (-3, 1 << 25)];
        for (parameter, value) in KEPT {
            // SAFETY: two numbers are passed by value. glibc ignores an unknown parameter and reports that.
            unsafe { mallopt(parameter, value) };
        }
    }
}
