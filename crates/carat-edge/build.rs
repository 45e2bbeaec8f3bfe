//! Has the linker place the functions that a start and a request need beside each other: `script/function_order`.

fn main() {
    let order = concat!(env!("CARGO_MANIFEST_DIR"), "/functions.ld");
    println!("cargo:rerun-if-changed={order}");
    println!("cargo:rustc-link-arg-bins=-T{order}");
}
