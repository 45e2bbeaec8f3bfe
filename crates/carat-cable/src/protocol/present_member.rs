use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Most bytes of what is told of somebody who is present.
const PRESENCE_RECORD_LIMIT: usize = 4096;
/// What precedes the number of members in a list.
const LIST_START: &str = r#"{"type":"info","total":"#;

/// Somebody who is present, as the client or the application has said.
///
/// ```
/// use carat_cable::PresentMember;
///
/// let member = PresentMember::parse(r#"{"id": "7", "info": {"name": "Ann"}}"#).expect("a member");
/// assert_eq!((&*member.id, &*member.record), ("7", r#"{"info":{"name": "Ann"},"id":"7"}"#));
/// assert!(PresentMember::parse(r#"{"id": 7}"#).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct PresentMember {
    /// Those of one id are one.
    pub id: Rc<str>,
    /// JSON of the id, and of what others are told beside.
    pub record: Rc<str>,
}

/// What has become of somebody.
#[derive(Clone, Debug)]
pub enum PresenceChange {
    /// Has joined.
    Join(PresentMember),
    /// Has left.
    Leave(PresentMember),
}

#[derive(Deserialize, Serialize)]
struct PresenceRecord<'a> {
    #[serde(
        rename = "type",
        skip_serializing_if = "Option::is_none",
        skip_deserializing
    )]
    kind: Option<&'a str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    info: Option<&'a RawValue>,
    id: String,
}

impl PresentMember {
    /// `None` if it is none, or takes too much.
    pub fn parse(json: &str) -> Option<PresentMember> {
        let record: PresenceRecord<'_> = serde_json::from_str(json).ok()?;
        let text = serde_json::to_string(&record).ok()?;
        (text.len() <= PRESENCE_RECORD_LIMIT).then(|| PresentMember {
            id: record.id.into(),
            record: text.into(),
        })
    }

    /// Bytes that it takes in a list.
    pub(crate) fn listed_bytes(&self) -> usize {
        self.record.len() + 1
    }

    /// Bytes that are held.
    pub(crate) fn held_bytes(&self) -> usize {
        self.id.len() + self.record.len()
    }
}

impl PresenceChange {
    /// What the subscribers of the stream are told.
    pub fn json(&self) -> String {
        match self {
            PresenceChange::Join(member) => {
                format!(
                    r#"{{"type":"join",{}"#,
                    member.record.get(1..).unwrap_or("}")
                )
            }
            PresenceChange::Leave(member) => {
                let id = serde_json::Value::from(&*member.id);
                format!(r#"{{"type":"leave","id":{id}}}"#)
            }
        }
    }
}

/// Those who are present.
pub(crate) fn presence_list<'a>(members: impl Iterator<Item = &'a PresentMember>) -> String {
    let records: Vec<_> = members.map(|member| &*member.record).collect();
    let total = records.len();
    if records.is_empty() {
        return format!("{LIST_START}0}}");
    }
    format!(r#"{LIST_START}{total},"records":[{}]}}"#, records.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_has_an_id_and_stays_within_its_place() {
        for json in ["", "{}", "[]", r#"{"id":null}"#, r#"{"id":"a","info":}"#] {
            assert!(PresentMember::parse(json).is_none(), "{json}");
        }
        let json = r#"{"type":"leave","info":null,"x":1,"id":"\",\"type\":\"leave"}"#;
        let member = PresentMember::parse(json).expect("a member");
        assert_eq!(&*member.record, r#"{"id":"\",\"type\":\"leave"}"#);
        for change in [
            PresenceChange::Join(member.clone()),
            PresenceChange::Leave(member),
        ] {
            let json: serde_json::Value = serde_json::from_str(&change.json()).expect("JSON");
            assert_eq!(json["id"], "\",\"type\":\"leave");
        }
    }

    #[test]
    fn what_is_told_of_a_member_is_bounded() {
        let json = |length| format!(r#"{{"id":"{}"}}"#, "a".repeat(length));
        let room = PRESENCE_RECORD_LIMIT - r#"{"id":""}"#.len();
        assert!(PresentMember::parse(&json(room)).is_some());
        assert!(PresentMember::parse(&json(room + 1)).is_none());
    }
}
