//! The shipped designs' names and files.

/// The name of the design that stands for all others where none is asked for.
pub const DEFAULT: &str = "10g";

/// The shipped designs, by rising rate: name and text of the file.
pub(crate) const SHIPPED: [(&str, &str); 12] = [
    ("1g", include_str!("../../../hdl/configurations/1g.toml")),
    ("1g-slices", include_str!("../../../hdl/configurations/1g-slices.toml")),
    ("10g", include_str!("../../../hdl/configurations/10g.toml")),
    ("10g-adaptive", include_str!("../../../hdl/configurations/10g-adaptive.toml")),
    ("10g-classes", include_str!("../../../hdl/configurations/10g-classes.toml")),
    ("10g-inline", include_str!("../../../hdl/configurations/10g-inline.toml")),
    ("10g-quantiles", include_str!("../../../hdl/configurations/10g-quantiles.toml")),
    ("10g-slices", include_str!("../../../hdl/configurations/10g-slices.toml")),
    ("40g", include_str!("../../../hdl/configurations/40g.toml")),
    ("40g-classifier", include_str!("../../../hdl/configurations/40g-classifier.toml")),
    ("100g", include_str!("../../../hdl/configurations/100g.toml")),
    ("400g", include_str!("../../../hdl/configurations/400g.toml")),
];

/// The shipped names, for messages.
pub fn shipped_names() -> String {
    SHIPPED.map(|(name, _)| name).join(", ")
}

/// The file of a shipped design, for messages.
pub(crate) fn shipped_file(name: &str) -> String {
    format!("hdl/configurations/{name}.toml")
}
