use std::fmt::Write as _;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use carat_exchange::{ReplyBody, accepts_html};
use carat_log::is_hidden;

/// The Content-Security-Policy of the page, which has no script and loads no file.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE: &str = ":root{color-scheme:light dark;--page:#fff;--text:#222;--dim:#666;--box:#f6f4f0;--red:#b00020}\
@media(prefers-color-scheme:dark){:root{--page:#14181d;--text:#e6ebf1;--dim:#98a6b5;--box:#1e252d;--red:#ff8a80}}\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;background:var(--page);\
color:var(--text);overflow-wrap:anywhere}h1{font-size:1.3rem;margin:0;color:var(--red)}p{color:var(--dim)}\
pre{background:var(--box);margin:1rem 0;padding:.8rem 1rem;font-size:.85rem;border-radius:4px;white-space:pre-wrap;tab-size:2}\
pre:first-of-type{border-left:4px solid var(--red);font-size:1rem}";

const UNSEEN: &str = "The application has not seen this request. Fix the error and repeat the request: Carat loads files that have changed.";

const RAISED: &str =
    "Only the development environment shows this page. Elsewhere the log has the error.";

/// The error page for clients while the code cannot be loaded, and in development for an exception of the
/// application.
#[derive(Debug)]
pub struct FailurePage {
    title: &'static str,
    advice: &'static str,
    /// The failure, with file and line: one line or more.
    cause: String,
}

impl FailurePage {
    /// The code cannot be loaded.
    pub fn unloadable(cause: &str) -> FailurePage {
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

    /// The page as the response to a request: HTML if the client accepts it, otherwise text.
    pub fn response(&self, request: &Parts) -> Response<ReplyBody> {
        let (kind, text) = if accepts_html(&request.headers) {
            ("text/html; charset=utf-8", self.html(request))
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

    /// The page as HTML, with a box for each paragraph of the cause.
    fn html(&self, request: &Parts) -> String {
        let FailurePage { title, advice, .. } = self;
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n<p><code>"
        );
        escape(&format!("{} {}", request.method, request.uri), &mut page);
        page.push_str("</code></p>\n");
        for paragraph in self.cause.split("\n\n") {
            page.push_str("<pre>");
            escape(paragraph, &mut page);
            page.push_str("</pre>\n");
        }
        // Writing to a String does not fail.
        let _ = writeln!(page, "<p>{advice}</p></body></html>");
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

/// Replaces control characters, because the text may be shown on a terminal.
fn printable(char: char) -> char {
    if (char.is_control() || is_hidden(char)) && char != '\n' && char != '\t' {
        char::REPLACEMENT_CHARACTER
    } else {
        char
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::ACCEPT;

    use super::*;
    use carat_exchange::ReplyContent;

    fn page(cause: &str, accept: Option<&'static str>) -> (Response<ReplyBody>, String) {
        let request = Request::builder().uri("/a?b='i&c").body(());
        let mut request = request.expect("a URI").into_parts().0;
        if let Some(accept) = accept {
            let accept = HeaderValue::from_static(accept);
            request.headers.insert(ACCEPT, accept);
        }
        let response = FailurePage::unloadable(cause).response(&request);
        let text = match &response.body().content {
            ReplyContent::Full(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        };
        (response, text)
    }

    #[test]
    fn a_browser_gets_a_page_in_which_nothing_of_the_error_is_markup() {
        let cause = "a.rb:1: <script>\"&'</script>\n\n    from b.rb:2";
        let (response, text) = page(cause, Some("text/html,*/*;q=0.8"));
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(!text.contains("<script"));
        assert!(text.contains("<code>GET /a?b=&#39;i&amp;c</code>"));
        assert!(text.contains(
            "<pre>a.rb:1: &lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</pre>\n<pre>    from b.rb:2</pre>"
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
