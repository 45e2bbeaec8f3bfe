use super::arriving::ArrivingBody;
use super::transform::BodyDecoder;
use crate::request::sinks::RequestSink;
use carat_exchange::Refusal;

/// Copies a body to `sink` as it arrives, decoded when `decoder` is given.
pub(super) async fn transfer(
    decoder: Option<Box<dyn BodyDecoder>>,
    arriving: &mut ArrivingBody,
    sink: &mut RequestSink<'_>,
) -> Result<(), Refusal> {
    if let Some(decoder) = decoder {
        return decoder.decode(arriving, sink).await;
    }
    while let Some(data) = arriving.next().await? {
        sink.take(&data).await?;
    }
    Ok(())
}
