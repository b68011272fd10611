//! Every path of the library's wrapper, against a stub that counts what is made and given back.
//!
//! All of one process see one stub with one script, so that this is one test.

use std::path::{Path, PathBuf};

use ptxsmith_driver::{DriverLibrary, DriverLoadError};

/// The stub: built beside the tests.
fn stub() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name =
        format!("{}ptxsmith_driver_stub{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    test.with_file_name(name)
}

fn counts() -> [u64; 7] {
    let mut counts = [0; 7];
    // SAFETY: the stub is loaded already; the function takes room for seven numbers.
    unsafe {
        let library = libloading::Library::new(stub()).unwrap();
        let count: libloading::Symbol<'_, unsafe extern "C" fn(*mut [u64; 7]) -> i32> =
            library.get(b"ptxsmith_driver_stub_counts\0").unwrap();
        count(&mut counts);
    }
    counts
}

#[test]
fn ten_thousand_modules_leak_nothing_and_every_failure_has_its_name() {
    let script = "version 12040\ndevices 2\ndevice 9.0 Stub Device\n\
        variable x 01000000\nvariable p 00000000\naddress p 0 8 x 3\nkernel k 0a0b0c0d\nkernel far 0a0b0c0d0e\n\
        if bad load 218 ptxas application ptx input, line 4; error : so\n";
    let directory = std::env::temp_dir().join(format!("ptxsmith-driver-test-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("script");
    std::fs::write(&path, script).unwrap();
    // SAFETY: this is the only test of the process, and no thread but its own reads the environment now.
    unsafe {
        std::env::set_var("PTXSMITH_DRIVER_STUB", &path);
        std::env::set_var("CUDA_CACHE_DISABLE", "1");
    }

    assert!(matches!(
        DriverLibrary::load(Some(Path::new("/nonexistent/libcuda.so"))),
        Err(DriverLoadError::Library(_))
    ));
    let driver = DriverLibrary::load(Some(&stub())).unwrap();
    driver.init().unwrap();
    assert_eq!((driver.version(), driver.devices()), (Some((12, 4)), Ok(2)));
    let device = driver.device(1).unwrap();
    assert_eq!((device.name.as_str(), device.capability), ("Stub Device", (9, 0)));
    assert_eq!((device.clock_khz, device.memory_clock_khz), (Some(1_000_000), Some(2_000_000)));
    assert_eq!(driver.device(2).unwrap_err().code, 101);

    let context = driver.context(0).unwrap();
    for round in 0..10_000 {
        let (module, log) = context.load(b".global x; .global p; .entry k far").unwrap();
        assert!(log.is_empty());
        let (x, size) = module.global("x").unwrap().unwrap();
        assert_eq!((context.read(x, size).unwrap(), size), (vec![1, 0, 0, 0], 4));
        assert_eq!(module.global("y").unwrap(), None);
        let (p, _) = module.global("p").unwrap().unwrap();
        assert_eq!(context.read(p, 8).unwrap(), (x + 3).to_le_bytes());
        if round % 10 == 0 {
            let ran = module.run("k", 6).unwrap().unwrap();
            assert_eq!((ran.bytes, ran.wrote_outside), (vec![10, 11, 12, 13, 0, 0], false));
            assert!(module.run("far", 4).unwrap().unwrap().wrote_outside);
            assert_eq!(module.run("other", 4).unwrap(), None);
        }
        if round % 2 == 0 {
            module.unload().unwrap();
        }
    }
    let refused = context.load(b"bad").err().unwrap();
    assert_eq!((refused.error.code, refused.error.name.as_str()), (218, "CUDA_ERROR_INVALID_PTX"));
    assert_eq!(refused.log, "ptxas application ptx input, line 4; error : so\n");
    let nowhere = context.read(16, 1).unwrap_err();
    assert_eq!(nowhere.to_string(), "cuMemcpyDtoH: error 1, CUDA_ERROR_INVALID_VALUE (as the script says)");
    assert!(!nowhere.is_sticky());
    drop(context);
    assert_eq!(counts(), [1, 1, 10_000, 10_000, 2_000, 2_000, 2_000]);
    std::fs::remove_dir_all(&directory).unwrap();
}
