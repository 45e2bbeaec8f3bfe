use crate::simulation::world::World;
use carat_exchange::BodySender;

/// Sends the body of a request as fast as the application reads it. Returns false if it breaks off before `length`
/// bytes.
pub(crate) async fn upload(
    world: &World,
    sender: BodySender,
    bytes: Vec<u8>,
    length: usize,
) -> bool {
    let discarded = sender.discarded();
    let forwarded = async {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let Some(room) = sender.room().await else {
                return true;
            };
            if world.random.chance(200) {
                world.pause(world.random.below(20_000)).await;
            }
            let (piece, after) = rest.split_at(room.min(rest.len()));
            sender.send(piece);
            rest = after;
        }
        if bytes.len() == length {
            sender.end();
        }
        bytes.len() == length
    };
    tokio::select! {
        biased;
        () = discarded => true,
        is_complete = forwarded => is_complete,
    }
}
