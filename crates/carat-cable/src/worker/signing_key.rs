use serde::Deserialize;

/// The application's key for the signatures of Turbo's stream names.
///
/// ```
/// use carat_cable::SigningKey;
///
/// let json = r#"{"key": "6b", "prefix": "shop:"}"#;
/// let key: SigningKey = serde_json::from_str(json).expect("complete");
/// assert_eq!(key.key, "6b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SigningKey {
    /// The key, in hexadecimal digits.
    pub key: String,
    /// The text before the name of each stream.
    #[serde(default)]
    pub prefix: String,
}
