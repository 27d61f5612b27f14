//! Macros that declare a table of the format once. They generate the keys, the struct, the reader
//! and the output.

mod catalog;
mod value;

pub(crate) use catalog::{named, parameters, span};
pub(crate) use value::{list, optional_list};

use crate::build::Builder;
use crate::read::{Fields, Item};
use crate::shape::{Key, Presence, Shape};
use serde_json::{Map, Value, json};

/// Declares a table of the format with the struct that it becomes.
///
/// A line `field: Type = shape, presence;` declares a key and a field. The key is the field's name
/// with hyphens, or the text after `as`. The doc comment documents the field, the schema and the
/// key. The presence contains the default, in TOML.
///
/// A line `"key" = shape, presence;` declares a key that the builder reads itself and converts to
/// another value. `..Other;` includes the keys of another table, which the builder also reads
/// itself. `own { … }` contains the fields that the builder supplies. The function after `check =`
/// checks conditions on several values of each struct.
///
/// The struct gets three items:
///
/// - `KEYS`, the keys of the table,
/// - `read`, which takes the own fields as a tuple, or `None` if one of these fields is wrong,
/// - `written`, which returns the table with the keys of all fields.
///
/// If another crate defines the struct, `struct Name of Struct` declares a type `Name`. This type
/// has `KEYS` and functions that read and write a `Struct`.
macro_rules! key_table {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident of $target:ident {
            own { $( $own:ident: $own_type:ty, )* }
            $($lines:tt)*
        }
    ) => {
        $crate::table::key_table!(
            @lines [$(#[$meta])* { $crate::table::unchecked } of $target] $vis $name
            [$( [] $own: $own_type, )*] [] [] $($lines)*
        );
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $( $(#[$own_doc:meta])* $own:ident: $own_type:ty, )* }
            check = $check:path;
            $($lines:tt)*
        }
    ) => {
        $crate::table::key_table!(
            @lines [$(#[$meta])* { $check }] $vis $name
            [$( [$(#[$own_doc])*] $own: $own_type, )*] [] [] $($lines)*
        );
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $( $(#[$own_doc:meta])* $own:ident: $own_type:ty, )* }
            $($lines:tt)*
        }
    ) => {
        $crate::table::key_table!(
            @lines [$(#[$meta])* { $crate::table::unchecked }] $vis $name
            [$( [$(#[$own_doc])*] $own: $own_type, )*] [] [] $($lines)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        ..$other:ident; $($rest:tt)*
    ) => {
        $crate::table::key_table!(
            @lines [$($meta)*] $vis $name [$($owns)*] [$($keys)* { $other::KEYS }] [$($fields)*]
            $($rest)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)?: $type:ty = $shape:expr, $presence:expr;
        $($rest:tt)*
    ) => {
        $crate::table::key_table!(
            @lines [$($meta)*] $vis $name [$($owns)*]
            [$($keys)* { &[$crate::table::documented!(
                $crate::table::key_of!($field $($key)?), $shape, $presence, $($doc)+
            )] }]
            [$($fields)* { [$($doc)+] $field [$($key)?]: $type }]
            $($rest)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        $(#[doc = $doc:literal])+ $key:literal = $shape:expr, $presence:expr; $($rest:tt)*
    ) => {
        $crate::table::key_table!(
            @lines [$($meta)*] $vis $name [$($owns)*]
            [$($keys)* { &[$crate::table::documented!($key, $shape, $presence, $($doc)+)] }] [$($fields)*]
            $($rest)*
        );
    };
    (
        @lines [$(#[$meta:meta])* { $check:path }] $vis:vis $name:ident
        [$( [$($own_doc:tt)*] $own:ident: $own_type:ty, )*]
        [$( { $keys:expr } )*]
        [$( { [$($doc:literal)+] $field:ident [$($field_key:literal)?]: $type:ty } )*]
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $($own_doc)* pub $own: $own_type, )*
            $( $(#[doc = $doc])+ pub $field: $type, )*
        }

        impl $name {
            $crate::table::key_table!(@keys $( { $keys } )*);

            /// Reads the table, with the fields that the builder supplies. `None` if a value is
            /// wrong.
            pub(crate) fn read(
                fields: &$crate::read::Fields,
                own: Option<($($own_type,)*)>,
                builder: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<Self> {
                $crate::table::key_table!(
                    @read $name, $check, fields, own, builder,
                    [$( $own )*] [$( $field [$($field_key)?] )*]
                )
            }

            /// Returns the table with the keys of all fields.
            pub(crate) fn written(&self) -> serde_json::Map<String, serde_json::Value> {
                $crate::table::key_table!(@write self, [$( $field [$($field_key)?] )*])
            }
        }
    };
    (
        @lines [$(#[$meta:meta])* { $check:path } of $target:ident] $vis:vis $name:ident
        [$( [] $own:ident: $own_type:ty, )*]
        [$( { $keys:expr } )*]
        [$( { [$($doc:literal)+] $field:ident [$($field_key:literal)?]: $type:ty } )*]
    ) => {
        $(#[$meta])*
        $vis struct $name;

        impl $name {
            $crate::table::key_table!(@keys $( { $keys } )*);

            /// Reads the table, with the fields that the builder supplies. `None` if a value is
            /// wrong.
            pub(crate) fn read(
                fields: &$crate::read::Fields,
                own: Option<($($own_type,)*)>,
                builder: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<$target> {
                $crate::table::key_table!(
                    @read $target, $check, fields, own, builder,
                    [$( $own )*] [$( $field [$($field_key)?] )*]
                )
            }

            /// Returns the table with the keys of all fields.
            pub(crate) fn written(value: &$target) -> serde_json::Map<String, serde_json::Value> {
                $crate::table::key_table!(@write value, [$( $field [$($field_key)?] )*])
            }
        }
    };
    (@keys $( { $keys:expr } )*) => {
        const LISTS: &'static [&'static [$crate::shape::Key]] = &[$( $keys, )*];

        /// The keys of the table.
        pub(crate) const KEYS: &'static [$crate::shape::Key] =
            &$crate::shape::join::<{ $crate::shape::length(Self::LISTS) }>(Self::LISTS);
    };
    (
        @read $target:ident, $check:path, $fields:ident, $given:ident, $builder:ident,
        [$( $own:ident )*] [$( $field:ident [$($key:literal)?] )*]
    ) => {{
        // All fields are read first, so that each of their mistakes is reported.
        $( let $field = $crate::table::KeyValue::read(
            $fields, $crate::table::key_of!($field $($key)?), $builder,
        ); )*
        let ($($own,)*) = $given?;
        $check($target { $( $own, )* $( $field: $field?, )* }, $fields, $builder)
    }};
    (@write $value:ident, [$( $field:ident [$($key:literal)?] )*]) => {{
        #[allow(unused_mut, reason = "a table may be the builder's alone")]
        let mut table = serde_json::Map::new();
        $( $crate::table::put(
            &mut table, Self::KEYS, $crate::table::key_of!($field $($key)?), &$value.$field,
        ); )*
        table
    }};
}

/// Declares an enum whose variants are sorts of one table. The key after `as` distinguishes a
/// variant. The fields of a variant are keys as in [`key_table!`]. `alone { … }` contains variants
/// that are not tables: a value of the type in brackets, or the word after `=`. `check` is as in
/// [`key_table!`]. The enum has a constant `VARIANTS`.
macro_rules! variants {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            alone { $(
                $(#[$alone_doc:meta])* $alone:ident $( ($alone_type:ty) )? $( = $word:literal )?,
            )* }
            check = $check:path;
            $(
                $(#[doc = $doc:literal])+
                $variant:ident as $tag:literal { $(
                    $(#[doc = $key_doc:literal])+
                    $field:ident $(as $key:literal)?: $type:ty = $shape:expr, $presence:expr;
                )+ }
            )+
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $( $(#[$alone_doc])* $alone $( ($alone_type) )?, )*
            $(
                $(#[doc = $doc])+
                $variant { $( $(#[doc = $key_doc])+ $field: $type, )+ },
            )+
        }

        impl $name {
            /// The sorts of the table.
            pub(crate) const VARIANTS: &'static [$crate::shape::Variant] = &[$(
                $crate::shape::Variant {
                    key: $tag,
                    doc: fadeout_core::table::trim(concat!($($doc),+)),
                    keys: &[$( $crate::table::documented!(
                        $crate::table::key_of!($field $($key)?), $shape, $presence, $($key_doc)+
                    ), )+],
                },
            )+];
        }

        impl $crate::table::KeyValue for $name {
            fn from_item(
                item: &$crate::read::Item,
                builder: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<Self> {
                let $crate::read::Content::Fields(fields) = &item.content else {
                    $(
                        $( if let Some(value) =
                            <$alone_type as $crate::table::KeyValue>::from_item(item, builder)
                        {
                            return Some($name::$alone(value));
                        } )?
                        $( if matches!(item.content, $crate::read::Content::Word($word)) {
                            return Some($name::$alone);
                        } )?
                    )*
                    return None;
                };
                let read = match fields.variant {
                    $( $tag => {
                        $( let $field = $crate::table::KeyValue::read(
                            fields, $crate::table::key_of!($field $($key)?), builder,
                        ); )+
                        $name::$variant { $( $field: $field?, )+ }
                    } )+
                    _ => return None,
                };
                $check(read, fields, builder)
            }

            fn written(&self, _shape: &$crate::shape::Shape) -> Option<serde_json::Value> {
                match self {
                    $(
                        $( $name::$alone(value) => {
                            <$alone_type as $crate::table::KeyValue>::written(value, _shape)
                        } )?
                        $( $name::$alone => Some(serde_json::json!($word)), )?
                    )*
                    $( $name::$variant { $( $field, )+ } => {
                        let mut table = serde_json::Map::new();
                        let keys = $crate::shape::keys_of(Self::VARIANTS, $tag);
                        $( $crate::table::put(
                            &mut table, keys, $crate::table::key_of!($field $($key)?), $field,
                        ); )+
                        Some(serde_json::Value::Object(table))
                    } )+
                }
            }
        }
    };
}

/// A key with its documentation.
macro_rules! documented {
    ($name:expr, $shape:expr, $presence:expr, $($doc:literal)+) => {
        $crate::shape::Key {
            name: $name,
            shape: $shape,
            presence: $presence,
            doc: fadeout_core::table::trim(concat!($($doc),+)),
        }
    };
}

/// The key of a field: its name with hyphens.
macro_rules! key_of {
    ($field:ident $key:literal) => {
        $key
    };
    ($field:ident) => {{
        const BYTES: [u8; stringify!($field).len()] =
            fadeout_core::registry::kebab(stringify!($field));
        const KEY: &str = fadeout_core::registry::kebab_str(&BYTES);
        KEY
    }};
}

/// Declares an enum whose variants are words of the format. Their doc comments are the
/// documentation of the words. `SHAPE` is the shape of a key with such a value.
macro_rules! word_choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            /// The shape of a key with one of these words.
            pub(crate) const SHAPE: $crate::shape::Shape = $crate::shape::Shape::Choice(&[
                $( ($word, fadeout_core::table::trim(concat!($($doc),+))), )+
            ]);

            /// Returns the word.
            pub fn word(&self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }
        }

        impl $crate::table::KeyValue for $name {
            fn from_item(
                item: &$crate::read::Item,
                _: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<Self> {
                match item.content {
                    $( $crate::read::Content::Word($word) => Some($name::$variant), )+
                    _ => None,
                }
            }
            fn written(&self, _: &$crate::shape::Shape) -> Option<serde_json::Value> {
                Some(serde_json::json!(self.word()))
            }
        }
    };
}

pub(crate) use {documented, key_of, key_table, variants, word_choice};

/// Type of a field that can be read from a checked value and written to a table.
pub(crate) trait KeyValue: Sized {
    /// Returns the value of an item. `None` if the item is wrong or has another type.
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self>;

    /// Returns the value of a key, which may be absent. `None` if the value is wrong, or if it is
    /// required and missing.
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        Self::from_item(fields.item(name)?, builder)
    }

    /// Returns the value in the notation of a file. `None` for an absent value.
    fn written(&self, shape: &Shape) -> Option<Value>;
}

/// Returns the struct unchanged, as the `check` of a table without checks.
pub(crate) fn unchecked<T>(read: T, _: &Fields, _: &mut Builder<'_, '_>) -> Option<T> {
    Some(read)
}

/// Adds a field's value to the table under its key.
pub(crate) fn put(table: &mut Map<String, Value>, keys: &[Key], name: &str, value: &impl KeyValue) {
    let Some(key) = keys.iter().find(|key| key.name == name) else {
        return;
    };
    let word = || match (&key.shape, key.presence) {
        // If an absent key means its default, the absence of a value is written as a word or as
        // false.
        (Shape::AnyOf(shapes), Presence::Default(_)) => shapes.iter().find_map(|one| match one {
            Shape::Word(word) => Some(json!(word)),
            Shape::False => Some(json!(false)),
            _ => None,
        }),
        _ => None,
    };
    if let Some(value) = value.written(&key.shape).or_else(word) {
        table.insert(name.to_owned(), value);
    }
}

/// Implements [`KeyValue`] for a nested table that needs nothing from the builder.
macro_rules! nested {
    ($($name:ty),* $(,)?) => {$(
        impl $crate::table::KeyValue for $name {
            fn from_item(
                item: &$crate::read::Item,
                builder: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<Self> {
                match &item.content {
                    $crate::read::Content::Fields(fields) => {
                        <$name>::read(fields, Some(()), builder)
                    }
                    _ => None,
                }
            }
            fn written(&self, _: &$crate::shape::Shape) -> Option<serde_json::Value> {
                Some(serde_json::Value::Object(self.written()))
            }
        }
    )*};
}

pub(crate) use nested;
