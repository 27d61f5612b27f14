//! Reading and writing of field types that many tables use.

use super::KeyValue;
use crate::build::Builder;
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Shape;
use crate::table::{named, parameters};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Dbm, Decibel, Hertz, Meters, Rate, Sampling, Span, Time};
use serde_json::{Value, json};

/// Returns the values of a list. `None` if an item is wrong.
pub(crate) fn list<T: KeyValue>(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Vec<T>> {
    let Content::List(items) = &item.content else {
        return None;
    };
    let values = items.iter().map(|item| T::from_item(item, builder));
    // All items are read first, so that each of their mistakes is reported.
    let values: Vec<_> = values.collect();
    values.into_iter().collect()
}

/// Returns the values of a list whose key is optional. Empty without the key.
pub(crate) fn optional_list<T: KeyValue>(
    fields: &Fields,
    name: &str,
    builder: &mut Builder<'_, '_>,
) -> Option<Vec<T>> {
    match fields.item(name) {
        Some(item) => list(item, builder),
        None => Some(Vec::new()),
    }
}

impl<T: KeyValue> KeyValue for Option<T> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        Some(T::from_item(item, builder))
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        Some(
            fields
                .item(name)
                .and_then(|item| T::from_item(item, builder)),
        )
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.as_ref()?.written(shape)
    }
}

impl KeyValue for crate::model::Named {
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match &item.content {
            Content::Parameters(given) => Some(given.clone()),
            _ => None,
        }
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match fields.item(name) {
            Some(item) => Self::from_item(item, builder),
            None => Some(Parameters::default()),
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        (!self.0.is_empty()).then(|| Value::Object(parameters(self)))
    }
}

/// List of values with their start times, or list of times with their ends.
impl<T: KeyValue> KeyValue for Vec<(Time, T)> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        let pairs = self
            .iter()
            .map(|(at, value)| Some(json!([at.written(shape)?, value.written(shape)?])));
        pairs.collect::<Option<Vec<_>>>().map(Value::Array)
    }
}

/// List of times. The key is optional.
impl KeyValue for Vec<Time> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        optional_list(fields, name, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        let times: Vec<Value> = self.iter().filter_map(|at| at.written(shape)).collect();
        (!times.is_empty()).then_some(Value::Array(times))
    }
}

/// List of numbers. The key is optional.
impl KeyValue for Vec<f64> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        optional_list(fields, name, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        let Shape::List(each) = shape else {
            return None;
        };
        let numbers: Vec<Value> = self.iter().filter_map(|one| one.written(each)).collect();
        (!numbers.is_empty()).then_some(Value::Array(numbers))
    }
}

/// List of exactly two items.
impl<A: KeyValue, B: KeyValue> KeyValue for (A, B) {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let (first, second) = item.pair()?;
        Some((
            A::from_item(first, builder)?,
            B::from_item(second, builder)?,
        ))
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match shape {
            Shape::Pair(first, second) => {
                Some(json!([self.0.written(first)?, self.1.written(second)?]))
            }
            _ => None,
        }
    }
}

impl KeyValue for Sampling {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Bool(_) => Some(Sampling::Off),
            Content::Word(_) => Some(Sampling::All),
            _ => Span::from_item(item, builder).map(Sampling::Every),
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match (self, shape) {
            (Sampling::Off, _) => Some(json!(false)),
            (Sampling::Every(every), _) => every.written(shape),
            (Sampling::All, Shape::AnyOf(shapes)) => shapes.iter().find_map(|one| match one {
                Shape::Word(word) => Some(json!(word)),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// Choices that another crate defines as well.
macro_rules! agreed {
    ($($name:ident),+ $(,)?) => {$(
        impl KeyValue for fadeout_core::agreed::$name {
            fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
                match item.content {
                    Content::Word(word) => Self::from_name(word),
                    _ => None,
                }
            }
            fn written(&self, _: &Shape) -> Option<Value> {
                Some(json!(self.name()))
            }
        }
    )+};
}

agreed!(
    BeamPrediction,
    CarFollowing,
    Changes,
    GapRule,
    Interpolation,
    LineOfSight,
    Outside,
    ReleasedState,
);

/// List of names. The key is optional.
impl KeyValue for Vec<String> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        optional_list(fields, name, builder)
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        (!self.is_empty()).then(|| json!(self))
    }
}

impl KeyValue for String {
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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
            fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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

/// Types of quantities, each with its dimension and the conversions from and to the base unit.
macro_rules! quantities {
    ($($type:ty, $dimension:ident: |$base:ident| $make:expr, |$value:ident| $back:expr;)*) => {$(
        impl KeyValue for $type {
            fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
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
