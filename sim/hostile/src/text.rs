//! Texts that a person hands over: command lines, key files, filters.

use deltaline::outside::{Understood, understood};
use deltaline_capture::filter::Filter;
use deltaline_design::{Design, parse_keys};
use serde_json::Value;

/// A command line, a word in each line of the text; `size` is done, all others are only read.
///
/// A design that is chosen can be read again, and everything expected of it is a number. Whatever is refused, why is said in words.
pub fn command(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let words: Vec<&str> = text.lines().collect();
    match understood(&words) {
        Understood::Command => {}
        Understood::Refused(why) => assert!(!why.trim().is_empty()),
        Understood::Size(result) => {
            let result: Value = serde_json::from_str(&result).unwrap_or_default();
            let file = result["configuration"].as_str().unwrap_or_default();
            let design = Design::parse("sized.toml", "sized", file);
            let rows = design.map(|design| design.configuration().rows() as u64).ok();
            assert!(rows.is_some() && rows == result["rows"].as_u64(), "{result}");
            let expected = result["expected"].as_array().map_or(&[][..], Vec::as_slice);
            assert!(!expected.is_empty());
            for each in expected {
                let value = |name: &str| each[name].as_f64().unwrap_or(f64::NAN);
                assert!((0.0..1.0).contains(&value("loss")), "{each}");
                for name in ["effective_samples", "usable_rows", "mean_error", "mean_ci95", "std_error"] {
                    assert!(value(name) >= 0.0, "{name} of {each}");
                }
            }
        }
    }
}

/// A file of keys: those that are read are there once a line more is added, as `deltaline key` adds it.
pub fn keys(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(keys) = parse_keys("fuzzed", text) else { return };
    let ids: Vec<u16> = keys.ids().collect();
    assert_eq!(keys.last().map(|key| key.id()), ids.last().copied());
    assert!(ids.iter().all(|id| *id > 0 && keys.get(*id).is_some_and(|key| key.id() == *id)));
    let Some(next) = ids.iter().max().and_then(|highest| highest.checked_add(1)) else { return };
    let added = parse_keys("fuzzed", &format!("{text}\n{next} {}\n", "5a".repeat(16)));
    let added: Vec<u16> = added.iter().flat_map(|keys| keys.ids()).collect();
    assert_eq!(added, [ids, vec![next]].concat());
}

/// A filter, and behind the first end of line a packet: a filter in parentheses wants the same, two negations as well, and
/// what a negation wants the filter does not.
pub fn filter(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (text, packet) = bytes.split_at(end);
    let packet = packet.get(1..).unwrap_or_default();
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(filter) = Filter::new(text) else { return };
    let wants = filter.wants(packet);
    for (outer, same) in [("(", true), ("not not (", true), ("not (", false)] {
        // It may have too many words by now.
        let Ok(filter) = Filter::new(&format!("{outer}{text})")) else { continue };
        let too = filter.wants(packet);
        assert!(if same { too == wants } else { !(too && wants) }, "{outer}{text})");
    }
}
