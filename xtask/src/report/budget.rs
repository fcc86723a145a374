//! The budget: upper bounds on the iCE40 cells of every module, in `hdl/budget.toml`.
//!
//! ```toml
//! [10g]                       # a design, with a line for every module that is no flip-flop
//! identity_tags = { luts = 140, flops = 150, rams = 0 }
//! ```
//!
//! Cells of flip-flops count for the module that holds them, those of other modules do not. The check fails for a
//! figure above its bound, a module without an entry, and an entry without a module or design; its message holds the
//! lines that are missing.
//!
//! Test plan: each of these failures, and none for a budget that fits.

use super::synthesis::Cells;
use crate::Failure;
use std::collections::BTreeMap;

/// Where the budget is, in the workspace.
pub(crate) const FILE: &str = "hdl/budget.toml";

/// Bounds by configuration and module.
pub(crate) struct Budget {
    bounds: BTreeMap<String, BTreeMap<String, Cells>>,
}

impl Budget {
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let wrong = |what: String| -> Failure { format!("{FILE}: {what}").into() };
        let table: toml::Table = text.parse().map_err(|error| wrong(format!("{error}")))?;
        let mut budget = Self { bounds: BTreeMap::new() };
        for (name, value) in table {
            let modules = value.as_table().ok_or_else(|| wrong(format!("'{name}' is not a table")))?;
            let mut bounds = BTreeMap::new();
            for (module, entry) in modules {
                let figure = |key: &str| {
                    let figure = entry.get(key).and_then(|figure| u64::try_from(figure.as_integer()?).ok());
                    figure.ok_or_else(|| wrong(format!("[{name}] {module}: '{key}' is missing or no count")))
                };
                let cells = Cells { luts: figure("luts")?, flops: figure("flops")?, rams: figure("rams")? };
                bounds.insert(module.clone(), cells);
            }
            budget.bounds.insert(name, bounds);
        }
        Ok(budget)
    }

    /// What is wrong with the configurations as such.
    pub(crate) fn check_names(&self, configurations: &[&str]) -> Vec<String> {
        self.bounds
            .keys()
            .filter(|name| !configurations.contains(&name.as_str()))
            .map(|name| format!("{FILE}: there is no configuration '{name}': remove its entry"))
            .collect()
    }

    /// What is wrong with a configuration whose modules cost `found`.
    pub(crate) fn check(&self, configuration: &str, found: &BTreeMap<String, Cells>) -> Vec<String> {
        let none = BTreeMap::new();
        let bounds = self.bounds.get(configuration).unwrap_or(&none);
        let mut wrong = vec![];
        for (module, cells) in found {
            let Cells { luts, flops, rams } = *cells;
            let Some(bound) = bounds.get(module) else {
                wrong.push(format!(
                    "{FILE}: [{configuration}] has no entry for a module; add\n{}",
                    line(module, cells)
                ));
                continue;
            };
            let figures =
                [("luts", luts, bound.luts), ("flops", flops, bound.flops), ("rams", rams, bound.rams)];
            for (what, found, bound) in figures {
                if found > bound {
                    wrong.push(format!(
                        "{FILE}: [{configuration}] {module}: {found} {what}, above its bound of {bound}; \
                         make it smaller, or raise the bound and say why"
                    ));
                }
            }
        }
        for module in bounds.keys().filter(|module| !found.contains_key(*module)) {
            wrong.push(format!(
                "{FILE}: [{configuration}] {module}: there is no such module; remove its entry"
            ));
        }
        wrong
    }
}

/// A module's entry.
fn line(module: &str, cells: &Cells) -> String {
    let Cells { luts, flops, rams } = cells;
    format!("{module} = {{ luts = {luts}, flops = {flops}, rams = {rams} }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[default]\nhash = { luts = 100, flops = 10, rams = 0 }\n";

    fn found(module: &str, luts: u64) -> BTreeMap<String, Cells> {
        [(module.to_string(), Cells { luts, flops: 10, rams: 0 })].into()
    }

    #[test]
    fn a_budget_that_fits_passes() {
        let budget = Budget::read(TEXT).unwrap();
        assert!(budget.check("default", &found("hash", 100)).is_empty());
        assert!(budget.check_names(&["default", "wide"]).is_empty());
    }

    #[test]
    fn every_disagreement_is_named() {
        let budget = Budget::read(TEXT).unwrap();
        let above = budget.check("default", &found("hash", 101));
        assert!(above.len() == 1 && above[0].contains("hash: 101 luts, above its bound of 100"), "{above:?}");
        let renamed = budget.check("default", &found("mash", 5));
        assert!(renamed[0].ends_with("add\nmash = { luts = 5, flops = 10, rams = 0 }"), "{renamed:?}");
        assert!(renamed[1].contains("hash: there is no such module"), "{renamed:?}");
        assert_eq!(budget.check("other", &found("hash", 1)).len(), 1);
        assert_eq!(budget.check_names(&["wide"]).len(), 1);
    }

    #[test]
    fn a_broken_file_says_where() {
        let broken = |text: &str| Budget::read(text).err().unwrap().to_string();
        assert!(broken("[default]\nhash = { luts = 1, flops = 2 }").contains("[default] hash: 'rams'"));
        assert!(broken("default = 3").contains("'default' is not a table"));
        assert!(broken("[").starts_with(FILE));
    }
}
