//! Tables of the format, declared once: keys, structs of the model, reading and writing.

use crate::build::Builder;
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::resolved::{named, parameters};
use crate::shape::{Key, Presence, Shape};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Dbm, Decibel, Hertz, Meters, Rate, Span, Time};
use serde_json::{Map, Value, json};

/// Declares a table of the format with the struct that it becomes.
///
/// A line `field: Type = shape, presence;` is a key and a field: the key is the field's name with
/// hyphens, or the text after `as`; the doc comment is the field's, the schema's and the documentation's, and the default
/// stands in the presence, in TOML. A line `"key" = shape, presence;` is a key that the builder
/// reads by hand, because it becomes something else; `..Other;` stands for the keys of another
/// table, read likewise. `own { … }` holds the fields that the builder gives. After
/// `check = function;` that function takes each struct that was read, for what no single value shows.
/// The struct gets `KEYS`; `read`, which takes the own fields as a tuple, nothing where one of them
/// is wrong; and `written`, the table with every key of a field.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $( $(#[$own_doc:meta])* $own:ident: $own_type:ty, )* }
            check = $check:path;
            $($lines:tt)*
        }
    ) => {
        $crate::table::table!(
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
        $crate::table::table!(
            @lines [$(#[$meta])* { $crate::table::unchecked }] $vis $name
            [$( [$(#[$own_doc])*] $own: $own_type, )*] [] [] $($lines)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        ..$other:ident; $($rest:tt)*
    ) => {
        $crate::table::table!(
            @lines [$($meta)*] $vis $name [$($owns)*] [$($keys)* { $other::KEYS }] [$($fields)*]
            $($rest)*
        );
    };
    (
        @lines [$($meta:tt)*] $vis:vis $name:ident [$($owns:tt)*] [$($keys:tt)*] [$($fields:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)?: $type:ty = $shape:expr, $presence:expr;
        $($rest:tt)*
    ) => {
        $crate::table::table!(
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
        $crate::table::table!(
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
            const LISTS: &'static [&'static [$crate::shape::Key]] = &[$( $keys, )*];

            /// The keys of the table.
            pub(crate) const KEYS: &'static [$crate::shape::Key] =
                &$crate::shape::join::<{ $crate::shape::length(Self::LISTS) }>(Self::LISTS);

            /// What the table says, beside what the builder knows; nothing where a value is wrong.
            pub(crate) fn read(
                fields: &$crate::read::Fields,
                own: Option<($($own_type,)*)>,
                builder: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<Self> {
                // Everything is read first, so that each mistake is told.
                $( let $field = $crate::table::KeyValue::read(
                    fields, $crate::table::key_of!($field $($field_key)?), builder,
                ); )*
                let ($($own,)*) = own?;
                $check($name { $( $own, )* $( $field: $field?, )* }, fields, builder)
            }

            /// The table again, with the keys that are fields.
            pub(crate) fn written(&self) -> serde_json::Map<String, serde_json::Value> {
                #[allow(unused_mut, reason = "a table may be the builder's alone")]
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

/// Declares an enum whose variants are sorts of one table, each told apart by the key after its
/// `as`. The fields of a variant are keys as in [`table!`]. `alone { … }` holds the variants that
/// are no table but a value of the type in brackets, or the word after `=`. `check` is as in
/// [`table!`]. The enum gets `VARIANTS`.
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
            /// The sorts of table.
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
            fn of(
                item: &$crate::read::Item,
                builder: &mut $crate::build::Builder<'_, '_>,
            ) -> Option<Self> {
                let $crate::read::Content::Fields(fields) = &item.content else {
                    $(
                        $( if let Some(value) =
                            <$alone_type as $crate::table::KeyValue>::of(item, builder)
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
            fn of(
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

pub(crate) use {documented, key_of, table, variants, words};

/// The type of a field: how it is read from a checked value, and written again.
pub(crate) trait KeyValue: Sized {
    /// The value; nothing where it is of another sort, or wrong.
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self>;

    /// The value of a key, which may be absent; nothing where it is wrong or missing.
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        Self::of(fields.item(name)?, builder)
    }

    /// As a file has it; nothing for an absent value.
    fn written(&self, shape: &Shape) -> Option<Value>;
}

/// What a table is checked with that has nothing to check.
pub(crate) fn unchecked<T>(read: T, _: &Fields, _: &mut Builder<'_, '_>) -> Option<T> {
    Some(read)
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
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        Some(T::of(item, builder))
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        Some(fields.item(name).and_then(|item| T::of(item, builder)))
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.as_ref()?.written(shape)
    }
}

impl KeyValue for crate::model::Named {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match &item.content {
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

impl KeyValue for Parameters {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match &item.content {
            Content::Parameters(given) => Some(given.clone()),
            _ => None,
        }
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match fields.item(name) {
            Some(item) => Self::of(item, builder),
            None => Some(Parameters::default()),
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        (!self.0.is_empty()).then(|| Value::Object(parameters(self)))
    }
}

/// Values with the times from which they hold, or times with their ends.
impl<T: KeyValue> KeyValue for Vec<(Time, T)> {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::List(items) = &item.content else {
            return None;
        };
        let pairs = items.iter().map(|item| {
            let (at, value) = item.pair()?;
            Some((Time::of(at, builder)?, T::of(value, builder)?))
        });
        pairs.collect()
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        let pairs = self
            .iter()
            .map(|(at, value)| Some(json!([at.written(shape)?, value.written(shape)?])));
        pairs.collect::<Option<Vec<_>>>().map(Value::Array)
    }
}

/// Times in a list, which may be left out.
impl KeyValue for Vec<Time> {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::List(items) = &item.content else {
            return None;
        };
        items.iter().map(|item| Time::of(item, builder)).collect()
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match fields.item(name) {
            Some(item) => Self::of(item, builder),
            None => Some(Vec::new()),
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        let times: Vec<Value> = self.iter().filter_map(|at| at.written(shape)).collect();
        (!times.is_empty()).then_some(Value::Array(times))
    }
}

impl KeyValue for String {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match &item.content {
            Content::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self))
    }
}

impl KeyValue for bool {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match &item.content {
            Content::Bool(flag) => Some(*flag),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self))
    }
}

impl KeyValue for f64 {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match &item.content {
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
            fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
                match &item.content {
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
            fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
                match item.content {
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
    Time, Time: |nanos| Time::ZERO + Span::from_nanos(nanos as u64),
        |at| at.since(Time::ZERO).as_nanos() as f64;
    Bytes, Size: |bytes| Bytes(bytes as u64), |bytes| bytes.0 as f64;
    Hertz, Frequency: |hertz| Hertz(hertz), |hertz| hertz.0;
    Meters, Length: |meters| Meters(meters), |meters| meters.0;
    Decibel, Ratio: |ratio| Decibel(ratio), |ratio| ratio.0;
    Dbm, Power: |power| Dbm(power), |power| power.0;
}

impl KeyValue for Rate {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
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
            fn of(
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
