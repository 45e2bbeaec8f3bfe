use serde_json::{Value, json};
use tikv_jemalloc_ctl::{Result, epoch, stats, version};

/// The stats of the edge, with the names that the Ruby processes use.
pub(super) fn edge_stats() -> Value {
    json!({ "allocator": allocator().ok() })
}

/// The allocator's current stats.
fn allocator() -> Result<Value> {
    epoch::advance()?;
    // The version without its commit.
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
    fn the_edge_reports_its_allocator() {
        let stats = edge_stats();
        let allocator = &stats["allocator"];
        let name = allocator["name"].as_str().expect("a name");
        assert!(name.starts_with("jemalloc 5."), "{name}");
        let bytes = |name: &str| allocator[name].as_u64().expect("bytes");
        assert!(bytes("allocated") > 0 && bytes("active") >= bytes("allocated"));
    }
}
