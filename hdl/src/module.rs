//! How the value of a module is written whose fields are mostly signals.

/// The value of a module: the fields with a value, and behind them the names of those that begin as their type does;
/// behind `each`, of arrays of any length whose elements do.
macro_rules! module {
    ($name:ident { $($field:ident: $value:expr),* $(,)? } $($plain:ident)* $(; each $($array:ident)*)?) => {
        $name {
            $($field: $value,)*
            $($plain: Default::default(),)*
            $($($array: std::array::from_fn(|_| Default::default()),)*)?
        }
    };
}

pub(crate) use module;
