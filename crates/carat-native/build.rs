//! Tells the code which Ruby it is compiled for: `ruby_gte_3_4` and the like.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _ = rb_sys_env::activate()?;
    Ok(())
}
