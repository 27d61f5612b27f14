//! Parameters declared once, as a struct.

use super::{Parameter, flag};

/// Declares a struct of parameters. Each field has its type. After `=` follows the function of
/// [`registry`](mod@crate::registry) that makes its [`Parameter`], with its arguments other than
/// name and documentation.
///
/// The key is the field's name with hyphens, or the text after `as`. The documentation is the doc
/// comment. A type must be [`FromSetting`](crate::registry::FromSetting), and
/// [`choices!`](crate::choices!) declares one for a choice. A field `= group()` is another such
/// struct, whose parameters are inserted there. `group(&[("key", "default")])` changes some of
/// their defaults.
///
/// The struct gets `PARAMETERS` for its [`Entry`](crate::registry::Entry), `with_defaults` for an
/// entry with other defaults, `read`, and `Default`.
///
/// ```
/// use fadeout_core::registry::{choice, number};
///
/// fadeout_core::choices! {
///     /// Which way round.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Turn {
///         /// As a clock.
///         Clockwise = "clockwise",
///         /// Against it.
///         Counter = "counter-clockwise",
///     }
/// }
///
/// fadeout_core::parameters! {
///     /// How it turns.
///     #[derive(Debug, Clone, PartialEq)]
///     pub struct Turning {
///         /// Degrees each second.
///         pub speed: f64 = number((0.0, 360.0, "deg/s"), "6"),
///         /// Which way round.
///         pub turn: Turn = choice(Turn::NAMES, "clockwise"),
///     }
/// }
///
/// fadeout_core::parameters! {
///     /// A hand of a clock.
///     #[derive(Debug, Clone, PartialEq)]
///     pub struct Hand {
///         /// From the centre to the tip.
///         pub length_cm as "length": f64 = number((1.0, 1000.0, "cm"), "12"),
///         /// How it turns.
///         pub turning: Turning = group(&[("speed", "0.1")]),
///     }
/// }
///
/// let names: Vec<_> = Hand::PARAMETERS.iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["length", "speed", "turn"]);
/// assert_eq!(Hand::default().turning.speed, 0.1);
/// assert_eq!(Turning::default().turn, Turn::Clockwise);
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field_vis:vis $field:ident $(as $key:literal)? : $type:ty
                    = $kind:ident ( $($argument:expr),* $(,)? )
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $(#[doc = $doc])* $field_vis $field: $type, )*
        }

        #[allow(dead_code, reason = "not every set of parameters needs all of these")]
        impl $name {
            const LISTS: &'static [&'static [$crate::registry::Parameter]] = &[$(
                $crate::parameters!(
                    @list $kind, $type, $crate::parameters!(@key $field $($key)?),
                    $crate::table::trim(concat!($($doc),*)), $($argument),*
                ),
            )*];
            const COUNT: usize = {
                let (mut count, mut index) = (0, 0);
                while index < Self::LISTS.len() {
                    count += Self::LISTS[index].len();
                    index += 1;
                }
                count
            };
            /// Parameters in order.
            $vis const PARAMETERS: &'static [$crate::registry::Parameter] =
                &$crate::registry::join::<{ Self::COUNT }>(Self::LISTS);

            /// Returns the parameters, with the defaults that `defaults` names replaced.
            $vis const fn with_defaults(
                defaults: &[(&str, &'static str)],
            ) -> [$crate::registry::Parameter; Self::COUNT] {
                $crate::registry::with_defaults(Self::PARAMETERS, defaults)
            }

            /// Returns the given values, with the entry's defaults for the others.
            $vis fn read(settings: &$crate::registry::Settings<'_>) -> Self {
                $name {
                    $( $field: $crate::parameters!(
                        @read $kind, $type, settings, $crate::parameters!(@key $field $($key)?)
                    ), )*
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::read(&$crate::registry::Settings::from_list(
                    Self::PARAMETERS,
                    $crate::registry::Parameters::NONE,
                ))
            }
        }
    };
    (@key $field:ident $key:literal) => { $key };
    (@key $field:ident) => {{
        const BYTES: [u8; stringify!($field).len()] = $crate::registry::kebab(stringify!($field));
        const KEY: &str = $crate::registry::kebab_str(&BYTES);
        KEY
    }};
    (@list group, $type:ty, $key:expr, $doc:expr,) => { <$type>::PARAMETERS };
    (@list group, $type:ty, $key:expr, $doc:expr, $defaults:expr) => {
        &<$type>::with_defaults($defaults)
    };
    (@list $kind:ident, $type:ty, $key:expr, $doc:expr, $($argument:expr),*) => {
        &[$crate::registry::Parameter {
            depends: <$type as $crate::registry::FromSetting>::DEPENDS,
            ..$kind($key, $($argument,)* $doc)
        }]
    };
    (@read group, $type:ty, $settings:expr, $key:expr) => { <$type>::read($settings) };
    (@read $kind:ident, $type:ty, $settings:expr, $key:expr) => {
        $settings.get::<$type>($key)
    };
}

/// Declares an enum whose variants a scenario names, for a parameter of the kind
/// [`choice`](crate::registry::choice). See [`parameters!`](crate::parameters!).
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $( $(#[$variant_meta])* $variant, )+
        }

        #[allow(dead_code, reason = "not every choice needs all of these")]
        impl $name {
            /// Names in the order of the variants.
            $vis const NAMES: &'static [&'static str] = &[$($text),+];

            /// Returns the variant called `name`. `None` if there is none.
            $vis fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( $text => Some($name::$variant), )+
                    _ => None,
                }
            }

            /// Returns the variant's name.
            $vis const fn name(&self) -> &'static str {
                match self {
                    $( $name::$variant => $text, )+
                }
            }
        }

        impl $crate::registry::FromSetting for $name {
            fn from_setting(settings: &$crate::registry::Settings<'_>, name: &str) -> Self {
                let chosen = settings.choice(name);
                Self::from_name(chosen)
                    .unwrap_or_else(|| panic!("`{name}` of `{}` has other names", settings.name()))
            }
        }
    };
}

/// Returns the bytes of a field's name, with hyphens.
pub const fn kebab<const N: usize>(name: &str) -> [u8; N] {
    let name = name.as_bytes();
    let mut bytes = [0; N];
    let mut index = 0;
    while index < N {
        bytes[index] = if name[index] == b'_' {
            b'-'
        } else {
            name[index]
        };
        index += 1;
    }
    bytes
}

/// Returns the bytes of [`kebab`] as text.
pub const fn kebab_str(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a field's name is text"),
    }
}

/// Returns one list with the items of all lists. `N` is the sum of their lengths.
pub const fn join<const N: usize>(lists: &[&[Parameter]]) -> [Parameter; N] {
    join_from(flag("", "", ""), lists)
}

/// Returns one list with the items of all lists. `N` is the sum of their lengths. `any` is a
/// placeholder value that the result does not contain.
///
/// # Panics
/// Panics if `N` is not the sum of the lengths. In a constant that is an error of compilation.
pub const fn join_from<T: Copy, const N: usize>(any: T, lists: &[&[T]]) -> [T; N] {
    let mut all = [any; N];
    let (mut list, mut filled) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            all[filled] = lists[list][index];
            filled += 1;
            index += 1;
        }
        list += 1;
    }
    assert!(filled == N, "N is not the length of all lists");
    all
}

/// Returns `parameters`, with other defaults for those that `defaults` names.
///
/// # Panics
/// Panics if one of the names is no parameter. In a constant that is an error of compilation.
pub const fn with_defaults<const N: usize>(
    parameters: &[Parameter],
    defaults: &[(&str, &'static str)],
) -> [Parameter; N] {
    let mut all = join::<N>(&[parameters]);
    let mut index = 0;
    while index < defaults.len() {
        let mut at = 0;
        while !is_same(all[at].name, defaults[index].0) {
            at += 1;
            assert!(at < N, "a default for a parameter that there is not");
        }
        all[at].default = defaults[index].1;
        index += 1;
    }
    all
}

/// Returns true if two texts are the same, in a constant.
pub const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}
