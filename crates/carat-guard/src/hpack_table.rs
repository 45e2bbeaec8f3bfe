//! The tables of HPACK (RFC 7541, section 2.3), without the texts in them.

use std::collections::VecDeque;

/// Bytes of names, values, and overhead that the dynamic table of a connection takes (RFC 9113, section 6.5.2).
const TABLE_LIMIT: usize = 4096;
/// What each entry counts beside its texts (RFC 7541, section 4.1).
const ENTRY_COST: usize = 32;

/// The lengths of the names of the static table (RFC 7541, appendix A).
const STATIC_NAMES: [u16; 61] = [
    10, 7, 7, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 14, 15, 15, 13, 6, 27, 3, 5, 13, 13, 19, 16, 16, 14,
    16, 13, 12, 6, 4, 4, 6, 7, 4, 4, 8, 17, 13, 8, 19, 13, 4, 8, 12, 18, 19, 5, 7, 7, 11, 6, 10,
    25, 17, 10, 4, 3, 16,
];

/// The lengths of the values that the static table has.
const STATIC_VALUES: [(usize, usize); 14] = [
    (2, 3),
    (3, 4),
    (4, 1),
    (5, 11),
    (6, 4),
    (7, 5),
    (8, 3),
    (9, 3),
    (10, 3),
    (11, 3),
    (12, 3),
    (13, 3),
    (14, 3),
    (16, 13),
];

/// The static entries with the name `:path`.
const STATIC_PATHS: [usize; 2] = [4, 5];

/// What matters of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HpackField {
    /// Bytes of the name.
    pub(crate) name: usize,
    /// Bytes of the value.
    pub(crate) value: usize,
    /// Whether the name is `:path`.
    pub(crate) is_path: bool,
    /// Whether the value contains a number sign.
    pub(crate) has_fragment: bool,
}

impl HpackField {
    /// What the field counts (RFC 7541, section 4.1).
    pub(crate) fn size(&self) -> usize {
        self.name + self.value + ENTRY_COST
    }
}

/// A field that fits into the table. Each idle connection keeps some twenty.
#[derive(Clone, Copy, Debug)]
struct HpackEntry {
    name: u16,
    value: u16,
    is_path: bool,
    has_fragment: bool,
}

impl HpackEntry {
    /// `None` for a field that is larger than any table.
    fn of(field: HpackField) -> Option<Self> {
        Some(Self {
            name: u16::try_from(field.name).ok()?,
            value: u16::try_from(field.value).ok()?,
            is_path: field.is_path,
            has_fragment: field.has_fragment,
        })
    }

    fn field(self) -> HpackField {
        HpackField {
            name: self.name.into(),
            value: self.value.into(),
            is_path: self.is_path,
            has_fragment: self.has_fragment,
        }
    }
}

/// The fields to which a client may refer.
#[derive(Debug)]
pub(crate) struct HpackTable {
    /// The newest first.
    entries: VecDeque<HpackEntry>,
    size: usize,
    limit: usize,
}

impl Default for HpackTable {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            size: 0,
            limit: TABLE_LIMIT,
        }
    }
}

impl HpackTable {
    /// The field with this index, which begins at 1.
    pub(crate) fn get(&self, index: usize) -> Option<HpackField> {
        let position = index.checked_sub(1)?;
        if let Some(name) = STATIC_NAMES.get(position) {
            return Some(HpackField {
                name: usize::from(*name),
                value: STATIC_VALUES
                    .iter()
                    .find(|(known, _)| *known == index)
                    .map_or(0, |(_, value)| *value),
                is_path: STATIC_PATHS.contains(&index),
                has_fragment: false,
            });
        }
        let entry = self.entries.get(position - STATIC_NAMES.len())?;
        Some(entry.field())
    }

    /// Adds a field.
    pub(crate) fn add(&mut self, field: HpackField) {
        let size = field.size();
        self.evict(self.limit.saturating_sub(size));
        if let Some(entry) = HpackEntry::of(field).filter(|_| size <= self.limit) {
            self.size += size;
            self.entries.push_front(entry);
        }
    }

    /// Sets the size that the client wants.
    pub(crate) fn resize(&mut self, limit: usize) {
        self.limit = limit.min(TABLE_LIMIT);
        self.evict(self.limit);
    }

    /// Drops the oldest fields until the others take at most this.
    fn evict(&mut self, size: usize) {
        while self.size > size {
            let Some(oldest) = self.entries.pop_back() else {
                return;
            };
            self.size -= oldest.field().size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: usize, value: usize) -> HpackField {
        HpackField {
            name,
            value,
            ..HpackField::default()
        }
    }

    #[test]
    fn indices_begin_with_the_static_table_and_the_newest_field() {
        let mut table = HpackTable::default();
        assert_eq!(table.get(0), None);
        assert!(table.get(4).is_some_and(|field| field.is_path));
        assert_eq!(table.get(16), Some(field(15, 13)));
        assert_eq!(table.get(61), Some(field(16, 0)));
        assert_eq!(table.get(62), None);
        (1..=3).for_each(|name| table.add(field(name, 10)));
        let names = (62..66).map(|index| table.get(index).map(|field| field.name));
        assert_eq!(names.collect::<Vec<_>>(), [Some(3), Some(2), Some(1), None]);
    }

    #[test]
    fn old_fields_are_dropped_and_one_that_is_too_large_empties_the_table() {
        let mut table = HpackTable::default();
        (0..1000).for_each(|_| table.add(field(0, 0)));
        assert_eq!(table.entries.len(), TABLE_LIMIT / ENTRY_COST);
        table.resize(64);
        assert_eq!(table.entries.len(), 2);
        table.resize(usize::MAX);
        table.add(field(0, TABLE_LIMIT - ENTRY_COST));
        assert_eq!(table.entries.len(), 1);
        table.add(field(1, TABLE_LIMIT));
        assert_eq!((table.entries.len(), table.size), (0, 0));
    }
}
