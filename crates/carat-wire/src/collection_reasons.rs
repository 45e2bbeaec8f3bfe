//! Why full garbage collections run. Both enums are one byte of a frame; an unknown byte is `Other`.

/// Why Ruby wants a full garbage collection, as `GC.latest_gc_info` names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum FullReason {
    /// A reason that this version does not know.
    #[default]
    Other,
    /// Too few slots are free.
    Nofree,
    /// Too many objects are old.
    Oldgen,
    /// Too many objects are without write barriers.
    Shady,
    /// Old objects have allocated much memory outside of the heap.
    Oldmalloc,
    /// Code asked for it, such as `GC.start`.
    Force,
    /// Old garbage has taken the room that requests need between two collections. Ruby would wait.
    Room,
    /// The worker exceeds `worker_memory`. Only the edge knows.
    WorkerMemory,
}

/// Why a full garbage collection ran at once, within a request, and did not wait until its worker served nobody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum HasteReason {
    /// A reason that this version does not know.
    #[default]
    Other,
    /// Code asked for it, such as `GC.start`.
    Application,
    /// Ruby alone times full collections in this process.
    Unmanaged,
    /// The heap is small, so that a collection takes little time.
    SmallHeap,
    /// Ruby began as soon as one was due.
    Sudden,
    /// The heap grew by the bound before the worker served nobody.
    Bound,
    /// The edge has declined a rest: the other workers had too little time to spare.
    Busy,
    /// As `Bound`, in the only worker. Only the edge knows.
    Alone,
}

/// Defines what both enums have: all variants, their names, and their bytes.
macro_rules! reasons {
    ($reason:ident { $($variant:ident: $name:literal,)+ }) => {
        impl $reason {
            /// All reasons, in the order of their bytes.
            pub const ALL: [$reason; [$($name),+].len()] = [$($reason::$variant),+];

            /// The name, as Ruby and reports write it.
            pub fn name(self) -> &'static str {
                match self {
                    $($reason::$variant => $name,)+
                }
            }

            /// The reason with this name.
            pub fn named(name: &str) -> $reason {
                let found = $reason::ALL.into_iter().find(|it| it.name() == name);
                found.unwrap_or_default()
            }

            /// The reason that this byte of a frame means.
            pub fn of_byte(byte: u8) -> $reason {
                $reason::ALL.get(usize::from(byte)).copied().unwrap_or_default()
            }
        }
    };
}

reasons!(FullReason {
    Other: "other",
    Nofree: "nofree",
    Oldgen: "oldgen",
    Shady: "shady",
    Oldmalloc: "oldmalloc",
    Force: "force",
    Room: "room",
    WorkerMemory: "worker_memory",
});

reasons!(HasteReason {
    Other: "other",
    Application: "application",
    Unmanaged: "unmanaged",
    SmallHeap: "small_heap",
    Sudden: "sudden",
    Bound: "bound",
    Busy: "busy",
    Alone: "alone",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_known_by_its_byte_and_by_its_name_and_others_are_other() {
        for reason in FullReason::ALL {
            assert_eq!(FullReason::of_byte(reason as u8), reason);
            assert_eq!(FullReason::named(reason.name()), reason);
        }
        for reason in HasteReason::ALL {
            assert_eq!(HasteReason::of_byte(reason as u8), reason);
            assert_eq!(HasteReason::named(reason.name()), reason);
        }
        assert_eq!(FullReason::of_byte(200), FullReason::Other);
        assert_eq!(HasteReason::named("new in Ruby"), HasteReason::Other);
    }
}
