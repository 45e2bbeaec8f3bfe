use std::fs;

/// The processes of these process groups, each with the number of its group. This reads all processes of the machine,
/// so never call it on the thread that serves the connections.
pub fn group_members(groups: &[u32]) -> Vec<(u32, u32)> {
    if groups.is_empty() {
        return Vec::new();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let members = pids.filter_map(|pid: u32| {
        let group = group_of(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        groups.contains(&group).then_some((group, pid))
    });
    members.collect()
}

/// The process group in a line of `/proc/PID/stat`: the third field after the name, which may contain spaces and
/// parentheses (`proc_pid_stat(5)`).
fn group_of(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_follows_a_name_of_any_characters() {
        assert_eq!(group_of("12 (a) b (c) S 1 34 34 0 -1"), Some(34));
        assert_eq!(group_of("12 (a"), None);
    }

    #[test]
    fn this_process_is_in_its_own_group() {
        let own = rustix::process::getpgrp().as_raw_pid().unsigned_abs();
        let members = group_members(&[own]);
        assert!(members.contains(&(own, std::process::id())));
        assert_eq!(group_members(&[]), Vec::new());
    }
}
