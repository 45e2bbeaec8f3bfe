use http::HeaderMap;
use http::header::ACCEPT;

/// Whether the client is a browser that shows a page. `*/*`, which scripts send, does not count.
pub fn accepts_html(request: &HeaderMap) -> bool {
    let values = request.get_all(ACCEPT).into_iter();
    let mut texts = values.filter_map(|value| value.to_str().ok());
    texts.any(|text| text.to_ascii_lowercase().contains("text/html"))
}
