use carat_coding::Decoder;

use super::arriving::ArrivingBody;
use super::decode::decode;
use crate::request::sinks::RequestSink;
use carat_exchange::Refusal;

/// Copies a body to `sink` as it arrives, decoded when `decoder` is given.
pub(super) async fn transfer(
    decoder: Option<Box<Decoder>>,
    arriving: &mut ArrivingBody,
    sink: &mut RequestSink<'_>,
) -> Result<(), Refusal> {
    if let Some(decoder) = decoder {
        return Box::pin(decode(decoder, arriving, sink)).await;
    }
    while let Some(data) = arriving.next().await? {
        sink.take(&data).await?;
    }
    Ok(())
}
