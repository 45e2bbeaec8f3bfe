use http::{Method, StatusCode};

/// The resources of the control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The memory and the stats of each process.
    Memory,
}

impl Route {
    /// Finds the resource of a request, or the status that says why there is none.
    pub(super) fn find(method: &Method, path: &str) -> Result<Route, StatusCode> {
        let route = match path {
            "/memory" => Route::Memory,
            _ => return Err(StatusCode::NOT_FOUND),
        };
        match *method {
            Method::GET | Method::HEAD => Ok(route),
            _ => Err(StatusCode::METHOD_NOT_ALLOWED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_method_make_a_route_or_a_status() {
        assert_eq!(Route::find(&Method::GET, "/memory"), Ok(Route::Memory));
        assert_eq!(Route::find(&Method::HEAD, "/memory"), Ok(Route::Memory));
        let not_allowed = Route::find(&Method::POST, "/memory");
        assert_eq!(not_allowed, Err(StatusCode::METHOD_NOT_ALLOWED));
        for path in ["/", "/memory/", "/Memory", "*"] {
            let nothing = Route::find(&Method::GET, path);
            assert_eq!(nothing, Err(StatusCode::NOT_FOUND), "{path}");
        }
    }
}
