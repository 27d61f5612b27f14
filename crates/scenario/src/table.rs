//! Tables of the format, declared once: keys, structs of the model, reading and writing.

use crate::quantity::Dimension;
use crate::read::{Content, Item};
use crate::resolved::named;
use crate::shape::{Key, Presence, Shape};
use fadeout_core::{Bytes, Dbm, Decibel, Hertz, Meters, Rate, Span};
use serde_json::{Map, Value, json};

/// Declares a table of the format with the struct that it becomes.
///
/// A line `field: Type = shape, presence;` is a key and a field: the key is the field's name with
/// hyphens, or the text after `as`; the doc comment is the field's, the schema's and the documentation's, and the default
/// stands in the presence, in TOML. A line `"key" = shape, presence;` is a key that the builder
/// reads by hand, because it becomes something else. `own { … }` holds the fields that the builder
/// gives. The struct gets `KEYS`; `read`, which takes the own fields as a tuple; and
/// `written`, the table with every key of a field.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $( $(#[$own_doc:meta])* $own:ident: $own_type:ty, )* }
            $($lines:tt)*
        }
    ) => {
        $crate::table::table!(
            @lines [$(#[$meta])*] $vis $name [$( [$(#[$own_doc])*] $own: $own_type, )*] [] [] $($lines)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)?: $type:ty = $shape:expr, $presence:expr;
        $($rest:tt)*
    ) => {
        $crate::table::table!(
            @lines [$($meta)*] $vis $name [$($owns)*]
            [$($keys)* { $crate::table::key_of!($field $($key)?), $shape, $presence, [$($doc)+] }]
            [$($fields)* { [$($doc)+] $field [$($key)?]: $type }]
            $($rest)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        $(#[doc = $doc:literal])+ $key:literal = $shape:expr, $presence:expr; $($rest:tt)*
    ) => {
        $crate::table::table!(
            @lines [$($meta)*] $vis $name [$($owns)*]
            [$($keys)* { $key, $shape, $presence, [$($doc)+] }] [$($fields)*]
            $($rest)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident
        [$( [$($own_doc:tt)*] $own:ident: $own_type:ty, )*]
        [$( { $key:expr, $shape:expr, $presence:expr, [$($key_doc:literal)+] } )*]
        [$( { [$($doc:literal)+] $field:ident [$($field_key:literal)?]: $type:ty } )*]
    ) => {
        $($meta)*
        $vis struct $name {
            $( $($own_doc)* pub $own: $own_type, )*
            $( $(#[doc = $doc])+ pub $field: $type, )*
        }

        impl $name {
            /// The keys of the table.
            pub(crate) const KEYS: &'static [$crate::shape::Key] = &[$(
                $crate::shape::Key {
                    name: $key,
                    shape: $shape,
                    presence: $presence,
                    doc: fadeout_core::table::trim(concat!($($key_doc),+)),
                },
            )*];

            /// What the table says, beside what the builder knows; nothing where a value is wrong.
            pub(crate) fn read(
                fields: &$crate::read::Fields,
                ($($own,)*): ($($own_type,)*),
            ) -> Option<Self> {
                Some($name {
                    $( $own, )*
                    $( $field: $crate::table::KeyValue::read(
                        fields.item($crate::table::key_of!($field $($field_key)?)),
                    )?, )*
                })
            }

            /// The table again, with the keys that are fields.
            pub(crate) fn written(&self) -> serde_json::Map<String, serde_json::Value> {
                let mut table = serde_json::Map::new();
                $( $crate::table::put(
                    &mut table,
                    Self::KEYS,
                    $crate::table::key_of!($field $($field_key)?),
                    &self.$field,
                ); )*
                table
            }
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

/// Declares an enum whose variants are words of the format; their doc comments are the
/// documentation. `SHAPE` is the shape of a key with such a value.
macro_rules! words {
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
            /// Its words.
            pub(crate) const SHAPE: $crate::shape::Shape = $crate::shape::Shape::Choice(&[
                $( ($word, fadeout_core::table::trim(concat!($($doc),+))), )+
            ]);

            /// The word.
            pub(crate) fn word(&self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }
        }

        impl $crate::table::KeyValue for $name {
            fn of(content: &$crate::read::Content) -> Option<Self> {
                match content {
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

pub(crate) use {key_of, table, words};

/// The type of a field: how it is read from a checked value, and written again.
pub(crate) trait KeyValue: Sized {
    /// The value; nothing where the content is of another sort.
    fn of(content: &Content) -> Option<Self>;

    /// The value of a key, which may be absent; nothing where it is wrong or missing.
    fn read(item: Option<&Item>) -> Option<Self> {
        Self::of(&item?.content)
    }

    /// As a file has it; nothing for an absent value.
    fn written(&self, shape: &Shape) -> Option<Value>;
}

/// Puts a field's value under its key.
pub(crate) fn put(table: &mut Map<String, Value>, keys: &[Key], name: &str, value: &impl KeyValue) {
    let Some(key) = keys.iter().find(|key| key.name == name) else {
        return;
    };
    let word = || match (&key.shape, key.presence) {
        // Where leaving the key out means its default, an absent value is a word.
        (Shape::AnyOf(shapes), Presence::Default(_)) => shapes.iter().find_map(|one| match one {
            Shape::Word(word) => Some(json!(word)),
            _ => None,
        }),
        _ => None,
    };
    if let Some(value) = value.written(&key.shape).or_else(word) {
        table.insert(name.to_owned(), value);
    }
}

impl<T: KeyValue> KeyValue for Option<T> {
    fn of(content: &Content) -> Option<Self> {
        Some(T::of(content))
    }
    fn read(item: Option<&Item>) -> Option<Self> {
        Some(item.and_then(|item| T::of(&item.content)))
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.as_ref()?.written(shape)
    }
}

impl KeyValue for crate::model::Named {
    fn of(content: &Content) -> Option<Self> {
        match content {
            Content::Named(named) => Some(named.clone()),
            _ => None,
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match shape {
            Shape::Named { tag, .. } => Some(named(self, tag)),
            _ => None,
        }
    }
}

impl KeyValue for String {
    fn of(content: &Content) -> Option<Self> {
        match content {
            Content::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self))
    }
}

impl KeyValue for bool {
    fn of(content: &Content) -> Option<Self> {
        match content {
            Content::Bool(flag) => Some(*flag),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self))
    }
}

impl KeyValue for f64 {
    fn of(content: &Content) -> Option<Self> {
        match content {
            Content::Number(number) | Content::Quantity(_, number) => Some(*number),
            _ => None,
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        Some(match shape {
            Shape::Quantity(dimension, _) => json!(dimension.format(*self)),
            _ => json!(self),
        })
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl KeyValue for $type {
            fn of(content: &Content) -> Option<Self> {
                match content {
                    Content::Integer(number) => <$type>::try_from(*number).ok(),
                    _ => None,
                }
            }
            fn written(&self, _: &Shape) -> Option<Value> {
                Some(json!(self))
            }
        }
    )*};
}

integers!(u8, u32, u64);

/// Quantities: the dimension, from its base unit and back.
macro_rules! quantities {
    ($($type:ty, $dimension:ident: |$base:ident| $make:expr, |$value:ident| $back:expr;)*) => {$(
        impl KeyValue for $type {
            fn of(content: &Content) -> Option<Self> {
                match *content {
                    Content::Quantity(Dimension::$dimension, $base) => Some($make),
                    _ => None,
                }
            }
            fn written(&self, _: &Shape) -> Option<Value> {
                let $value = *self;
                Some(json!(Dimension::$dimension.format($back)))
            }
        }
    )*};
}

quantities! {
    Span, Time: |nanos| Span::from_nanos(nanos as u64), |span| span.as_nanos() as f64;
    Bytes, Size: |bytes| Bytes(bytes as u64), |bytes| bytes.0 as f64;
    Hertz, Frequency: |hertz| Hertz(hertz), |hertz| hertz.0;
    Meters, Length: |meters| Meters(meters), |meters| meters.0;
    Decibel, Ratio: |ratio| Decibel(ratio), |ratio| ratio.0;
    Dbm, Power: |power| Dbm(power), |power| power.0;
}

impl KeyValue for Rate {
    fn of(content: &Content) -> Option<Self> {
        match *content {
            Content::Word("unlimited") => Some(Rate::UNLIMITED),
            Content::Quantity(Dimension::Rate, bits) => Some(Rate::from_bits_per_sec(bits as u64)),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(if self.is_unlimited() {
            json!("unlimited")
        } else {
            json!(Dimension::Rate.format(self.as_bits_per_sec() as f64))
        })
    }
}

/// A table that a key holds, which the builder need not look into.
macro_rules! nested {
    ($($name:ty),* $(,)?) => {$(
        impl $crate::table::KeyValue for $name {
            fn of(content: &$crate::read::Content) -> Option<Self> {
                match content {
                    $crate::read::Content::Fields(fields) => <$name>::read(fields, ()),
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
