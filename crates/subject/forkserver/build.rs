//! Builds the library to preload. Without a C compiler there is none, and programs are started anew for each
//! run.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/server.c");
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("server.so");
    if let Err(reason) = build(&library) {
        println!(
            "cargo::warning=no fork server: {reason}. \
             Subjects are started anew for each program, which is slower"
        );
        fs::write(&library, []).expect("cargo made the directory");
    }
}

fn build(library: &std::path::Path) -> Result<(), String> {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Err("it needs Linux".to_owned());
    }
    let compiler = cc::Build::new().pic(true).warnings(true).try_get_compiler();
    let compiler = compiler.map_err(|error| format!("no C compiler ({error})"))?;
    let mut command = compiler.to_command();
    command.args(["-shared", "-O2", "-o"]).arg(library).arg("src/server.c").arg("-ldl");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} failed: {status}")),
        Err(error) => Err(format!("the C compiler cannot be run: {error}")),
    }
}
