use carat_http2::{FrameFault, FrameGuard};

/// Has the guard look at pieces of the bytes of a connection, as the edge does: what was not passed comes again with what
/// follows. Returns what is passed, what waits, and the fault that ends the connection.
pub fn pass_frames<'a>(
    guard: &mut FrameGuard,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<u8>, Vec<u8>, Option<FrameFault>) {
    let (mut passed, mut held) = (Vec::new(), Vec::new());
    for piece in pieces {
        held.extend_from_slice(piece);
        let (count, fault) = match guard.pass(&mut held, 0) {
            Ok(count) => (count, None),
            Err((fault, before)) => (before, Some(fault)),
        };
        passed.extend(held.drain(..count));
        if fault.is_some() {
            return (passed, held, fault);
        }
    }
    (passed, held, None)
}
