//! Search for the place in a scenario's text of a mistake that another crate found.

use crate::error::Mistake;
use crate::tree::{Entry, Place, Table, TreeNode, Value};

/// Mistake in a scenario that the reader accepted, described by the names in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Top-level key of the file, such as `cell`.
    pub table: &'static str,
    /// Name of the element in the table. `None` if the table has only one element.
    pub name: Option<String>,
    /// Key with the mistake. If `None`, the first key that `reason` names is used.
    pub key: Option<&'static str>,
    /// Description of the mistake and the expected value, without the element's name.
    pub reason: String,
    /// Complete message for the user.
    pub message: String,
}

impl Finding {
    /// Returns the mistake with its place in `document`.
    pub(crate) fn mistake(&self, document: &Table) -> Mistake {
        Mistake::new(self.place(document), self.message.clone())
    }

    /// Returns the place of the key's value. If it is unknown, returns the place of the element, of
    /// the table or of the file's start.
    fn place(&self, document: &Table) -> Place {
        let Some(table) = document.entry(self.table) else {
            return Place::START;
        };
        let element = match &self.name {
            Some(name) => element(table, name).unwrap_or(table),
            None => table,
        };
        let mut keys = self.key.map(str::to_owned).into_iter();
        let mut named = named_keys(&self.reason).into_iter();
        keys.find_map(|key| within(&element.node, &key))
            .or_else(|| named.find_map(|key| within(&element.node, &key)))
            .unwrap_or(match element.node.value {
                Value::Table(_) => element.key_place,
                _ => element.node.place,
            })
    }
}

/// Returns the element called `name`. An element that a `count` makes has the name of its table,
/// followed by `-` and a number. A bearer has the name of its UE, followed by `/` and its own name.
/// `None` if there is no such element.
fn element<'a>(table: &'a Entry, name: &str) -> Option<&'a Entry> {
    let Value::Table(elements) = &table.node.value else {
        return None;
    };
    let mut name = name;
    loop {
        if let Some(found) = elements.entry(name) {
            return Some(found);
        }
        name = &name[..name.rfind(['-', '/'])?];
    }
}

/// Returns the place of the first value with the key `key` in a table or in its subtables. `None`
/// if there is none.
fn within(node: &TreeNode, key: &str) -> Option<Place> {
    match &node.value {
        Value::Table(table) => match table.entry(key) {
            Some(entry) => Some(entry.node.place),
            None => table.0.iter().find_map(|it| within(&it.node, key)),
        },
        Value::List(items) => items.iter().find_map(|item| within(item, key)),
        _ => None,
    }
}

/// Returns the keys that a message may be about, the most likely first. Keys in backticks come
/// first, then the words of the message's subject.
fn named_keys(reason: &str) -> Vec<String> {
    let quoted = reason.split('`').skip(1).step_by(2);
    let mut keys: Vec<String> = quoted
        .filter_map(|quoted| {
            let path = quoted.split([' ', '=']).next()?;
            Some(path.rsplit('.').next().unwrap_or(path).to_owned())
        })
        .collect();
    if let Some((subject, _)) = reason.split_once(" is ") {
        let subject = subject.to_lowercase();
        keys.push(subject.replace(' ', "-"));
        keys.extend(subject.split(' ').map(str::to_owned));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse_document;

    const TEXT: &str = "duration = \"1 s\"\n[cell.m2]\ncarrier = \"2 GHz\"\nchannel = { blockage = \"crowd\" }\n\
                        [ue.phone]\ncount = 3\nrlc = { mode = \"am\", t-reassembly = \"4 ms\" }\n";

    /// Returns the scenario's text from the place of a finding on.
    fn found(
        table: &'static str,
        name: Option<&str>,
        key: Option<&'static str>,
        reason: &str,
    ) -> String {
        let document = parse_document(TEXT).expect("it is TOML");
        let finding = Finding {
            table,
            name: name.map(str::to_owned),
            key,
            reason: reason.to_owned(),
            message: String::new(),
        };
        let place = finding.place(&document);
        TEXT[place.start as usize..place.end as usize].to_owned()
    }

    #[test]
    fn a_finding_is_at_its_key_or_at_the_next_table_around_it() {
        let cell = Some("m2");
        assert_eq!(found("cell", cell, Some("carrier"), ""), "\"2 GHz\"");
        assert_eq!(found("cell", cell, None, "no such channel"), "m2");
        assert_eq!(found("cell", cell, Some("bandwidth"), ""), "m2");
        assert_eq!(found("cell", Some("other"), None, ""), "cell");
        assert_eq!(found("worlds", None, None, ""), "");
    }

    #[test]
    fn the_key_is_one_that_the_reason_names() {
        let cell = |reason| found("cell", Some("m2"), None, reason);
        assert_eq!(cell("`power` and `channel.carrier` differ"), "\"2 GHz\"");
        assert_eq!(cell("`carrier = \"1 GHz\"` is low"), "\"2 GHz\"");
        assert_eq!(cell("mean duration of a blockage is 0"), "\"crowd\"");
        let ue = |name| {
            found(
                "ue",
                Some(name),
                None,
                "t-Reassembly is 4 ms; expected 5 ms",
            )
        };
        for name in ["phone", "phone-2", "phone-2/voice"] {
            assert_eq!(ue(name), "\"4 ms\"", "{name}");
        }
    }
}
