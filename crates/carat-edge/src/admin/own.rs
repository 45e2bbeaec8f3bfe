use serde_json::{Value, json};
use tikv_jemalloc_ctl::{Result, epoch, stats, version};

/// What the edge says of itself; the names are those that the Ruby processes use.
pub(super) fn figures() -> Value {
    json!({ "allocator": allocator().ok() })
}

/// The figures of the allocator, as they are now.
fn allocator() -> Result<Value> {
    epoch::advance()?;
    // The version without what stands for a commit.
    let number = version::read()?.split('-').next().unwrap_or_default();
    Ok(json!({
        "name": format!("jemalloc {number}"),
        "allocated": stats::allocated::read()?,
        "active": stats::active::read()?,
        "resident": stats::resident::read()?,
        "retained": stats::retained::read()?,
        "mapped": stats::mapped::read()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_tells_of_its_allocator() {
        let figures = figures();
        let allocator = &figures["allocator"];
        let name = allocator["name"].as_str().expect("a name");
        assert!(name.starts_with("jemalloc 5."), "{name}");
        let bytes = |name: &str| allocator[name].as_u64().expect("bytes");
        assert!(bytes("allocated") > 0 && bytes("active") >= bytes("allocated"));
    }
}
