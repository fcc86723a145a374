//! Of whom control frames are taken, and what is to be said of those that were left out.
//!
//! # Test plan
//!
//! `tests/decode.rs` and `tests/read.rs`: frames of other segments, points and configurations are counted and make no interval.

use clap::Args;
use deltaline_collect::collector::{Allowed, Counts, Limits};
use serde::Serialize;

#[derive(Debug, Args)]
pub(crate) struct Allow {
    /// Take control frames of these segments alone, such as 1,2
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    segment: Vec<u32>,
    /// Take control frames of the points with these identifiers alone
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    point: Vec<u32>,
    /// Take control frames of these configurations alone, by identifier, such as 0x0123456789abcdef
    #[arg(long, value_name = "IDENTIFIERS", value_delimiter = ',', value_parser = parse_digest)]
    digest: Vec<u64>,
}

impl Allow {
    pub(crate) fn allowed(&self) -> Allowed {
        Allowed {
            segments: self.segment.iter().copied().collect(),
            points: self.point.iter().copied().collect(),
            digests: self.digest.iter().copied().collect(),
        }
    }
}

fn parse_digest(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).map_err(|_| {
        "give up to 16 hexadecimal digits, as `deltaline decode --json` shows them under `digest`".into()
    })
}

/// Frames that were left out although they are control frames, as JSON has them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct LeftOut {
    pub(crate) unlisted: u64,
    pub(crate) replayed: u64,
    pub(crate) stray: u64,
    pub(crate) beyond: u64,
    /// Those that still waited for another one to confirm them in the end.
    pub(crate) unconfirmed: u64,
}

impl LeftOut {
    pub(crate) fn of(counts: &Counts) -> Self {
        let Counts { unlisted, replayed, stray, beyond, unconfirmed, .. } = *counts;
        LeftOut { unlisted, replayed, stray, beyond, unconfirmed }
    }

    /// Whether what was left out may be missed.
    pub(crate) fn is_missed(&self) -> bool {
        self.stray + self.beyond > 0
    }

    /// Why frames were left out, each reason once.
    pub(crate) fn remarks(&self, limits: &Limits) -> Vec<String> {
        let Limits { segments, bytes, .. } = limits;
        let megabytes = bytes >> 20;
        let said = [
            (self.unlisted, "are of other segments, points or configurations than those asked for".into()),
            (
                self.replayed,
                "are older than what their point has reported: recordings were named in another order than they were made, somebody sends \
                 old frames again, or a point's boot epoch, or the numbers of its delimiters, have gone back"
                    .into(),
            ),
            (
                self.stray,
                "have interval numbers far from all others, which no second frame confirmed: they were forged, or most \
                 of what belongs to them was lost"
                    .into(),
            ),
            (
                self.beyond,
                format!(
                    "had no room among {segments} segments and {megabytes} MiB: name those that matter with --segment, \
                     --point or --digest"
                ),
            ),
        ];
        let left_out =
            |(frames, why): &(u64, String)| format!("{frames} control frames were left out that {why}");
        let unconfirmed = format!(
            "{} control frames stand alone: of their interval's other end, and of the intervals beside it, nothing had come in the end; \
             they were forged, or belong to what had just begun or broken off",
            self.unconfirmed
        );
        let said = said.iter().filter(|(frames, _)| *frames > 0).map(left_out);
        said.chain((self.unconfirmed > 0).then_some(unconfirmed)).collect()
    }
}
