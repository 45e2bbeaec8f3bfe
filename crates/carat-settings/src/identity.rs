//! The user that the server runs as.

use std::ffi::CString;
use std::io;

use nix::unistd::{Gid, Uid, initgroups, setgroups, setresgid, setresuid, setuid};
use rustix::thread::capabilities;
use serde::Deserialize;

const ROOT: Uid = Uid::from_raw(0);

/// A user without the privileges of root.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// `None` for a user without an entry in the user database.
    user: Option<String>,
    uid: u32,
    gid: u32,
}

impl Identity {
    /// Becomes this user, for all threads and for good. Fails unless every privilege is gone.
    pub fn assume(&self) -> Result<(), String> {
        self.change().map_err(|error| {
            let uid = self.uid;
            format!("cannot become user {uid}: {error}; root needs CAP_SETUID and CAP_SETGID")
        })?;
        self.verify()
    }

    /// Changes the groups first, because the user, once changed, has no right to do so.
    fn change(&self) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        match &self.user {
            Some(user) => initgroups(&CString::new(user.as_str())?, gid)?,
            None => setgroups(&[gid])?,
        }
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)?;
        Ok(())
    }

    /// Checks that no privilege is left. The kernel drops capabilities with the user id unless its `securebits` say
    /// otherwise.
    fn verify(&self) -> Result<(), String> {
        let sets = capabilities(None).map_err(|error| format!("capget: {error}"))?;
        let kept = sets.effective | sets.permitted;
        if setuid(ROOT).is_ok() || !kept.is_empty() {
            let uid = self.uid;
            return Err(format!(
                "user {uid} would keep privileges of root ({kept:?}): use the default securebits"
            ));
        }
        Ok(())
    }
}
