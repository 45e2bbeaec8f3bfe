/// The compression level of each coding, from fast to small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// 1 to 9.
    pub gzip: u32,
    /// 0 to 11.
    pub brotli: u32,
    /// 1 to 19.
    pub zstd: i32,
}
