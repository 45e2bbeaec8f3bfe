/// The placeholder of the process id in the pattern.
const PID: &str = "PID";

/// How control sockets are named, such as `carat-PID.sock`. The launcher and `carat memory` use the same
/// pattern.
pub(super) struct SocketName {
    prefix: String,
    suffix: String,
}

impl SocketName {
    /// Reads a pattern.
    pub(super) fn new(pattern: &str) -> SocketName {
        let (prefix, suffix) = pattern.split_once(PID).unwrap_or((pattern, ""));
        SocketName {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
        }
    }

    /// The name of the socket of process `pid`.
    pub(super) fn of(&self, pid: u32) -> String {
        format!("{}{pid}{}", self.prefix, self.suffix)
    }

    /// The process id of the server whose socket has this name.
    pub(super) fn pid(&self, name: &str) -> Option<u32> {
        let pid = name
            .strip_prefix(&self.prefix)?
            .strip_suffix(&self.suffix)?;
        pid.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_in_the_place_of_the_pid_makes_a_name() {
        let pattern = SocketName::new("carat-PID.sock");
        assert_eq!(pattern.of(42), "carat-42.sock");
        assert_eq!(pattern.pid("carat-42.sock"), Some(42));
        for name in ["carat-.sock", "carat-x.sock", "carat-42", "x-42.sock"] {
            assert_eq!(pattern.pid(name), None, "{name}");
        }
    }
}
