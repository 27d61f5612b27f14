//! Closed sets of names that a scenario may use.

/// Declares a closed set: the list of entries, the enum, and its constructor by name. Also declares
/// a macro that calls a method of any variant, and the tests that hold for every entry.
///
/// A line `Variant(Type)` uses the entry of `Type`, which must be
/// [`Registered`](crate::registry::Registered). `Variant(Type) = ENTRY` gives the type another name
/// and other defaults. Parentheses after the enum's name contain the constructors' further
/// argument, and an example of it for the tests. Variants that no scenario can name come after
/// `else`. `macro calls;` names the macro: `calls!(value, it => it.method())`.
///
/// Some variants hold only parameters for another type that does the work, such as a queue and its
/// configuration. For these, the line `Variant(Config => Machine)` with the head of a second enum
/// declares both. `calls!(config, it => Enum(it.start()))` makes a value of the second enum from
/// one of the first. `macro calls, machines;` names the macro that calls methods of the second.
///
/// The documentation of [`registry`](crate::registry!) has an example.
#[macro_export]
macro_rules! registry {
    (
        $(#[$list_meta:meta])*
        $list_vis:vis static $list:ident;
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(($context:ident: $context_type:ty = $example:expr))? {
            $( $variant:ident($type:ty) $(= $entry:expr)? ),+ $(,)?
        } $(else {
            $( $(#[$more_meta:meta])* $more:ident($more_type:ty) ),+ $(,)?
        })?
        macro $calls:ident;
    ) => {
        $crate::registry!(
            @set [$(#[$list_meta])*] $list_vis $list, [$(#[$meta])*] $vis $name,
            [$($context_type)?], [$($context: $context_type = $example)?],
            [$( $variant($type) [$($entry)?] )+], [$($( [$(#[$more_meta])*] $more($more_type) )+)?],
            $calls
        );

        #[allow(unused_macros, reason = "not every set has methods")]
        macro_rules! $calls {
            ($value:expr, $it:ident => $call:expr) => {
                match $value {
                    $( $name::$variant($it) => $call, )+
                    $($( $name::$more($it) => $call, )+)?
                }
            };
        }
    };
    (
        $(#[$list_meta:meta])*
        $list_vis:vis static $list:ident;
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(($context:ident: $context_type:ty = $example:expr))?;
        $(#[$machine_meta:meta])*
        $machine_vis:vis enum $machine:ident {
            $( $variant:ident($type:ty => $machine_type:ty) $(= $entry:expr)? ),+ $(,)?
        }
        macro $calls:ident, $machine_calls:ident;
    ) => {
        $crate::registry!(
            @set [$(#[$list_meta])*] $list_vis $list, [$(#[$meta])*] $vis $name,
            [$($context_type)?], [$($context: $context_type = $example)?],
            [$( $variant($type) [$($entry)?] )+], [],
            $calls
        );

        $(#[$machine_meta])*
        $machine_vis enum $machine {
            $(
                #[doc = concat!("What `", stringify!($variant), "` configures.")]
                $variant($machine_type),
            )+
        }

        #[allow(unused_macros, reason = "not every set has methods")]
        macro_rules! $calls {
            ($value:expr, $it:ident => $machine($start:expr)) => {
                match $value {
                    $( $name::$variant($it) => $machine::$variant($start), )+
                }
            };
            ($value:expr, $it:ident => $call:expr) => {
                match $value {
                    $( $name::$variant($it) => $call, )+
                }
            };
        }

        #[allow(unused_macros, reason = "not every set has methods")]
        macro_rules! $machine_calls {
            ($value:expr, $it:ident => $call:expr) => {
                match $value {
                    $( $machine::$variant($it) => $call, )+
                }
            };
        }
    };
    (
        @set [$($list_meta:tt)*] $list_vis:vis $list:ident, [$($meta:tt)*] $vis:vis $name:ident,
        $of:tt, [$($context:ident: $context_type:ty = $example:expr)?],
        [$( $variant:ident($type:ty) [$($entry:expr)?] )+],
        [$( [$($more_meta:tt)*] $more:ident($more_type:ty) )*],
        $calls:ident
    ) => {
        $($list_meta)*
        $list_vis static $list: &[$crate::registry::Entry] =
            &[$( $crate::registry!(@entry $type, $of, [$($entry)?]) ),+];

        $($meta)*
        $vis enum $name {
            $(
                #[doc = concat!("`", stringify!($variant), "`, as its registry entry says.")]
                $variant($type),
            )+
            $( $($more_meta)* $more($more_type), )*
        }

        impl $name {
            /// Returns the entry called `name`, or with this alias, with the given parameters and
            /// defaults for the others. `None` if there is none.
            $vis fn new(
                name: &str,
                given: &$crate::registry::Parameters
                $(, $context: $context_type)?
            ) -> Option<Self> {
                let entry = $crate::registry::find($list, name)?;
                let settings = $crate::registry::Settings::new(entry, given);
                Self::from_settings(&settings $(, $context)?)
            }

            fn from_settings(
                settings: &$crate::registry::Settings<'_>
                $(, $context: $context_type)?
            ) -> Option<Self> {
                let context = ($($context)?);
                let index = $list.iter().position(|entry| entry.name == settings.name())?;
                let mut next = 0..;
                $(
                    if next.next() == Some(index) {
                        let made = $crate::registry::Registered::from_settings(settings, context);
                        return Some($name::$variant(made));
                    }
                )+
                None
            }
        }

        #[cfg(test)]
        mod $calls {
            use super::*;

            #[test]
            fn names_are_unique_and_defaults_are_read_and_in_range() {
                $crate::registry::check($list);
                for entry in $list {
                    $crate::registry::check_built(entry, |settings| {
                        format!("{:?}", $name::from_settings(settings $(, $example)?).expect("an entry"))
                    });
                }
            }
        }
    };
    (@entry $type:ty, [$($context_type:ty)?], []) => {
        <$type as $crate::registry::Registered<($($context_type)?)>>::ENTRY
    };
    (@entry $type:ty, [$($context_type:ty)?], [$entry:expr]) => { $entry };
}
