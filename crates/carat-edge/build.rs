//! The build script of the edge. The linker places the functions that a start and a request need next to each other
//! (`script/function_order`). It also packs the addresses that the dynamic linker corrects (300 KB), which glibc
//! understands from 2.36 on.

use std::env;
use std::process::Command;

fn main() {
    let order = concat!(env!("CARGO_MANIFEST_DIR"), "/functions.ld");
    println!("cargo:rerun-if-changed={order}");
    println!("cargo:rustc-link-arg-bins=-T{order}");
    let for_glibc = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu");
    if for_glibc && glibc_minor().is_some_and(|minor| minor >= 36) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The minor version of this machine's glibc: 36 for `glibc 2.36`.
fn glibc_minor() -> Option<u32> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let version = String::from_utf8(output.ok()?.stdout).ok()?;
    version.trim().strip_prefix("glibc 2.")?.parse().ok()
}
