use std::fmt::Write as _;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use carat_exchange::{ReplyBody, accepts_html};
use carat_log::is_hidden;

/// The page needs no script and no file.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:3rem auto;max-width:60rem;padding:0 1rem;color:#222}\
h1{font-size:1.4rem;color:#b00020}pre{background:#f6f4f0;padding:1rem;overflow:auto;border-left:4px solid #b00020;\
white-space:pre-wrap}p{color:#666}";

const UNSEEN: &str = "The application has not seen this request. Fix the error and repeat the request: Carat loads files that have changed.";

const RAISED: &str =
    "Only the development environment shows this page. Elsewhere the log has the error.";

/// What clients read as long as the code cannot be loaded, and in development about an exception of the application.
#[derive(Debug)]
pub(crate) struct FailurePage {
    title: &'static str,
    advice: &'static str,
    /// What failed, with file and line: one line or more.
    cause: String,
}

impl FailurePage {
    /// The code cannot be loaded.
    pub(crate) fn unloadable(cause: &str) -> FailurePage {
        FailurePage::new("The code cannot be loaded", UNSEEN, cause)
    }

    /// The application raised an exception.
    pub(crate) fn raised(cause: &str) -> FailurePage {
        FailurePage::new("The application raised an exception", RAISED, cause)
    }

    fn new(title: &'static str, advice: &'static str, cause: &str) -> FailurePage {
        FailurePage {
            title,
            advice,
            cause: cause.chars().map(printable).collect(),
        }
    }

    /// The page for a request with these headers: text unless the client asks for HTML.
    pub(crate) fn response(&self, request: &HeaderMap) -> Response<ReplyBody> {
        let (kind, text) = if accepts_html(request) {
            ("text/html; charset=utf-8", self.html())
        } else {
            ("text/plain; charset=utf-8", self.text())
        };
        let mut response = Response::new(ReplyBody::full(Bytes::from(text)));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        response
    }

    fn text(&self) -> String {
        format!("{}\n\n{}\n", self.cause, self.advice)
    }

    fn html(&self) -> String {
        let FailurePage { title, advice, .. } = self;
        let (first, rest) = self.cause.split_once('\n').unwrap_or((&self.cause, ""));
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n<pre><strong>"
        );
        escape(first, &mut page);
        page.push_str("</strong>\n");
        escape(rest, &mut page);
        // Writing to a String does not fail.
        let _ = write!(page, "</pre>\n<p>{advice}</p></body></html>\n");
        page
    }
}

fn escape(text: &str, page: &mut String) {
    for char in text.chars() {
        match char {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            other => page.push(other),
        }
    }
}

/// A terminal may be what shows the text.
fn printable(char: char) -> char {
    if (char.is_control() || is_hidden(char)) && char != '\n' && char != '\t' {
        char::REPLACEMENT_CHARACTER
    } else {
        char
    }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;
    use carat_exchange::ReplyContent;

    fn page(cause: &str, accept: Option<&'static str>) -> (Response<ReplyBody>, String) {
        let mut headers = HeaderMap::new();
        if let Some(accept) = accept {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        let response = FailurePage::unloadable(cause).response(&headers);
        let text = match &response.body().content {
            ReplyContent::Full(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        };
        (response, text)
    }

    #[test]
    fn a_browser_gets_a_page_in_which_nothing_of_the_error_is_markup() {
        let cause = "a.rb:1: <script>\"&'</script>\n    from b.rb:2";
        let (response, text) = page(cause, Some("text/html,*/*;q=0.8"));
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(!text.contains("<script"));
        assert!(text.contains(
            "<strong>a.rb:1: &lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</strong>\n    from b.rb:2</pre>"
        ));
    }

    #[test]
    fn other_clients_get_text_without_control_characters() {
        for accept in [None, Some("*/*"), Some("application/json")] {
            let (response, text) = page("a.rb:1: \u{1b}[31m\u{202e}red", accept);
            assert_eq!(
                response.headers()[CONTENT_TYPE],
                "text/plain; charset=utf-8"
            );
            assert!(text.starts_with("a.rb:1: \u{fffd}[31m\u{fffd}red\n"));
        }
    }
}
