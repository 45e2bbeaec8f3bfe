use std::cell::{Cell, RefCell};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use httpdate::fmt_http_date;

/// The value of Date, which changes once a second.
#[derive(Default)]
pub(super) struct DateField {
    second: Cell<u64>,
    value: RefCell<Option<HeaderValue>>,
}

impl DateField {
    /// The value of this second.
    pub(super) fn value(&self) -> HeaderValue {
        // A clock before 1970 counts as the start of 1970.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let second = now.map_or(0, |now| now.as_secs());
        let mut value = self.value.borrow_mut();
        match &*value {
            Some(value) if self.second.get() == second => value.clone(),
            _ => {
                self.second.set(second);
                let text = fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
                let field = HeaderValue::try_from(text).expect("a date is ASCII");
                value.insert(field).clone()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_made_once_a_second() {
        let date = DateField::default();
        let value = date.value();
        assert!(value.as_bytes().ends_with(b" GMT"));
        date.value.replace(Some(HeaderValue::from_static("kept")));
        assert!(["kept".as_bytes(), value.as_bytes()].contains(&date.value().as_bytes()));
        date.second.set(1);
        assert!(date.value().as_bytes().ends_with(b" GMT"));
    }
}
