/// Memory that a part holds in addition to `client_memory`, and leaves to clients while they need it.
pub trait Lends {
    /// The bytes that the part may hold.
    fn limit(&self) -> u64;

    /// The bytes that the part holds.
    fn held(&self) -> u64;

    /// Called once a tick, and when clients have used up their memory. While `gives_way` is true, clients need more
    /// memory: the part frees as much as it can, and takes none. Clients may then use the rest of its limit.
    fn give_way(&self, gives_way: bool);
}
