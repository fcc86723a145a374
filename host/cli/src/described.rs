//! What both ends of a measurement have in common, as the command line says it: a design's file or name, single settings,
//! or both where they agree.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::hash::Hash;
use crate::report;
use clap::Args;
use deltaline_collect::collector::Collector;
use deltaline_design::Design;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::shape::Kind;
use std::fmt::Display;
use std::path::Path;

/// The seed where neither a design nor a seed is given.
const SEED: u64 = 1;

/// Fewest rows of identity tables in software.
const LEAST_IDENTITY_ROWS: usize = 64;

/// A design, or settings in its place.
#[derive(Clone, Debug, Args)]
pub(crate) struct Described {
    /// The design: a file, or the name of a shipped one. Settings that are given as well must agree with it
    #[arg(long, value_name = "FILE")]
    design: Option<String>,
    /// What the packets are counted in: lda, finecomb, identity, rda, srda, slices, both for lda and slices,
    /// lda-identity, lds, or colate [default: both in measure through software, identity in exchange, else lda]
    #[arg(long, value_name = "NAME", value_parser = parse_synopsis)]
    synopsis: Option<Kind>,
    /// Rows of each bank: a power of two from 8 to 32768 [default: 1024 in measure, 64 in delimit, 64 in exchange]
    #[arg(long)]
    rows: Option<usize>,
    /// Prefix length of each bank, ascending, 0 to 16; a bank with prefix length k samples one packet in 2^k
    /// [default: 1,6; identity, rda, srda, slices, lda-identity, lds and colate: 0]
    #[arg(long, value_delimiter = ',', value_name = "LENGTHS")]
    banks: Option<Vec<u8>>,
    /// For rda, the number of banks a packet is in; for srda, the number of cells: 1 to 4 [default: 2]
    #[arg(long, value_name = "K", conflicts_with = "design")]
    tables: Option<u8>,
    /// Hash function [default: h3]
    #[arg(long, value_enum)]
    hash: Option<Hash>,
    /// Seed of the hash function
    #[arg(long)]
    seed: Option<u64>,
    /// Number of the measurement segment [default: 0]
    #[arg(long)]
    segment: Option<u32>,
}

impl Described {
    /// The configuration, the synopsis being `usual` and the rows `rows` without a design. A flag `digest` that is set must agree with the design;
    /// without a design there are digests if it is set, or `by_default` where the synopsis has them then.
    pub(crate) fn configuration(
        &self,
        usual: Kind,
        rows: usize,
        digest: bool,
        by_default: bool,
    ) -> Result<Configuration, Failure> {
        let Described { design, synopsis, rows: asked, banks, tables, hash, seed, segment } = self;
        let Some(name) = design else {
            let synopsis = synopsis.unwrap_or(usual);
            if by_default && synopsis == Kind::IDENTITY_TABLE && asked.unwrap_or(rows) < LEAST_IDENTITY_ROWS {
                let message = format!(
                    "--rows: of identity tables give at least {LEAST_IDENTITY_ROWS}, 256 cells: smaller ones often do not show the packets \
                     that differ, however few"
                );
                return Err(Failure::new(Exit::Usage, message));
            }
            let prefixes = banks.as_deref().unwrap_or(synopsis.default_prefixes());
            return Configuration::new(Settings {
                synopsis,
                hash: hash.unwrap_or(Hash::H3).into(),
                seed: seed.unwrap_or(SEED),
                rows: asked.unwrap_or(rows),
                prefixes,
                segment: segment.unwrap_or(0),
                digest: digest || by_default && synopsis.has_digests_by_default(),
                tables: *tables,
                ..Settings::default()
            })
            .map_err(|error| {
                Failure::new(Exit::Usage, format!("--synopsis, --rows, --banks, --tables: {error}"))
            });
        };
        let configuration = *named(name)?.configuration();
        let check = |flag: &str, asked: Option<String>, found: String| match asked {
            Some(asked) if asked != found => Err(Failure::new(
                Exit::Usage,
                format!(
                    "--{flag} {asked} contradicts --design {name}, which has {found}; leave out --{flag}, or name \
                     another design"
                ),
            )),
            _ => Ok(()),
        };
        let text = |value: &dyn Display| value.to_string();
        let own = configuration.prefixes().lengths();
        let name_of = |kind: Kind| kind.name().unwrap_or_default().to_string();
        check("synopsis", synopsis.map(name_of), name_of(configuration.kind()))?;
        check("rows", asked.as_ref().map(|it| text(it)), text(&configuration.rows()))?;
        check("banks", banks.as_deref().map(listed), listed(own))?;
        check("hash", hash.as_ref().map(|it| text(it)), text(&Hash::from(configuration.hash())))?;
        check("seed", seed.as_ref().map(|it| text(it)), text(&configuration.seed()))?;
        check("segment", segment.as_ref().map(|it| text(it)), text(&configuration.segment()))?;
        if digest && !configuration.has_digests() {
            let message = format!(
                "--digest contradicts --design {name}, which has no digests; leave out --digest, or name another design"
            );
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(configuration)
    }

    /// As [`Described::configuration`], of identity tables where nothing else is said.
    pub(crate) fn of_identities(&self, rows: usize) -> Result<Configuration, Failure> {
        self.configuration(Kind::IDENTITY_TABLE, rows, false, true)
    }

    /// How long the design's intervals are at least, in nanoseconds; none without a design.
    pub(crate) fn least_interval(&self) -> Result<Option<u64>, Failure> {
        let Some(name) = &self.design else { return Ok(None) };
        let design = named(name)?;
        Ok(Some((design.interval_cycles() as f64 * 1e3 / design.clock_mhz()).ceil() as u64))
    }

    /// Says which seed it was, where nobody has.
    pub(crate) fn mention_seed(&self) {
        if self.design.is_none() && self.seed.is_none() {
            report::say(&format!("no --design and no --seed: the hash function's seed is {SEED}"));
        }
    }
}

fn parse_synopsis(name: &str) -> Result<Kind, String> {
    let names: Vec<&str> = Kind::all().filter_map(Kind::name).collect();
    Kind::named(name).ok_or_else(|| format!("give one of {}", names.join(", ")))
}

fn listed(lengths: &[u8]) -> String {
    let lengths: Vec<String> = lengths.iter().map(u8::to_string).collect();
    lengths.join(",")
}

/// A design by its file, whose name ends in `.toml`, or by its own name.
pub(crate) fn named(name: &str) -> Result<Design, Failure> {
    let found = match Path::new(name).extension() {
        Some(_) => Design::load(Path::new(name)),
        None => Design::named(name),
    };
    found.map_err(|error| Failure::new(Exit::Usage, format!("--design: {error}")))
}

/// A collector of a design's control frames, or of whatever comes.
pub(crate) fn expecting(design: Option<&str>) -> Result<Collector, Failure> {
    Ok(match design {
        Some(name) => Collector::expecting(named(name)?.configuration()),
        None => Collector::default(),
    })
}
