//! The emitted Verilog under cocotb: `sim/cocotb/README.md` has the test plan.

use crate::{Failure, acceptance, tools};
use deltaline_design::Design;
use deltaline_hdl::registers::{self, Emitted, Options};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::delimiter::{BYTES, Delimiter};
use deltaline_model::wire::frame::Role;
use deltaline_traffic::Frames;
use serde_json::{Value, json};
use std::fs;
use std::num::NonZeroU16;

/// The build number that the designs are given.
const BUILD: u32 = 0x1234_5678;
/// What differs from the shipped designs of 64 bits: few rows, so that an interval is sent in a few hundred cycles.
const ROWS: usize = 16;

/// Frames of each interval, and intervals, of a run.
const FRAMES: u64 = 40;
const INTERVALS: u32 = 3;
/// The interval behind whose start the tap is asked for an end that it has to refuse.
const REFUSING: u32 = 1;
/// Where the built-in clock stands still: a frame's timestamp does not depend on the bench's pauses then.
const STOPPED: Timestamp = Timestamp(0x0123_4567_89ab_cdef);

/// The tap's identifier, which its bench writes into a register.
const POINT: u32 = 0x89ab_cdef;

/// Frames before each delimiter with a key.
const KEYED_FRAMES: u64 = 8;
/// Where the sender is when the key takes effect: its boot epoch, and the number of its next delimiter.
const SENDER_EPOCH: u32 = 0x6553_2100;
const FIRST_DELIMITER: u32 = 0x0001_fffe;

/// Runs all benches.
pub(crate) fn run() -> Result<(), Failure> {
    // The registers are those of the default core.
    let emitted = Emitted::new(
        &Configuration::new(Settings::default())?,
        8,
        1,
        BUILD,
        Options { clock: true, delimiters: false, authentication: true },
    );
    bench("registers", "registers", &registers::emit(&emitted, "registers")?, &Value::Null)?;
    let tap = design("tap", "ptp", false)?;
    bench(
        "tap",
        "deltaline",
        &deltaline_hdl::emit::design::emit(&tap, "deltaline")?,
        &tap_vectors(tap.configuration()),
    )?;
    let keyed = design("tap", "ptp", true)?;
    bench(
        "keyed",
        "deltaline",
        &deltaline_hdl::emit::design::emit(&keyed, "deltaline")?,
        &keyed_vectors(keyed.configuration()),
    )?;
    let inline = design("inline", "built-in", false)?;
    bench(
        "inline",
        "deltaline",
        &deltaline_hdl::emit::design::emit(&inline, "deltaline")?,
        &inline_vectors(inline.configuration()),
    )
}

/// A small design of 64 bits.
fn design(shell: &str, clock: &str, authentication: bool) -> Result<Design, Failure> {
    let text = format!(
        r#"description = "A {shell} under cocotb"
shell = "{shell}"
clock = "{clock}"
authentication = {authentication}

[stream]
width = 64
lanes = 1
clock_mhz = 156.25
rate_gbps = 10

[measurement]
hash = "h3"
seed = 1
rows = {ROWS}
prefixes = [1, 6]
segment = 7
"#
    );
    let folder = tempfile::tempdir()?;
    let file = folder.path().join(format!("{shell}.toml"));
    fs::write(&file, text)?;
    Ok(Design::load(&file)?.with_build(BUILD))
}

/// Runs `sim/cocotb/test_<name>.py` on a module with these vectors.
fn bench(name: &str, top: &str, verilog: &str, vectors: &Value) -> Result<(), Failure> {
    eprintln!("==> cocotb: {name}");
    let folder = tools::folder()?.join("cocotb-run");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{name}.v")), verilog)?;
    fs::write(folder.join(format!("{name}.json")), vectors.to_string())?;
    let mut python = tools::cocotb_python()?;
    python.arg(tools::workspace()?.join("sim/cocotb/run.py")).args([name, top]).arg(&folder);
    let printed = acceptance::run(python.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    let results = printed.lines().filter(|line| line.contains("PASS") && line.contains("test_"));
    results.for_each(|line| eprintln!("    {}", line.trim().trim_matches(['*', ' '])));
    Ok(())
}

/// What a tap at the receiving end sees and reports: frames with their timestamps and the counts behind each, some
/// bad; intervals that the register ends, and the last one, which a delimiter in the stream ends.
fn tap_vectors(configuration: &Configuration) -> Value {
    let mut point = MeasurementPoint::new(configuration, Role::Receiver);
    point.set_id(POINT);
    let mut source = Frames::new(5);
    let intervals: Vec<Value> = (0..INTERVALS)
        .map(|interval| {
            if interval == REFUSING {
                point.refuse_interval_end();
            }
            let mut frames: Vec<Value> = (0..FRAMES)
                .map(|number| {
                    let (frame, bad) = (source.next_frame(), number % 16 == 7);
                    let time = Timestamp((u64::from(interval) * FRAMES + number) * 0x1234_5678_9abc);
                    seen(&mut point, &frame, time, bad)
                })
                .collect();
            let delimited = interval == INTERVALS - 1;
            let end = if delimited { IntervalEnd::Delimiter } else { IntervalEnd::Request };
            if delimited {
                let delimiter = Delimiter::new(configuration, interval).encode();
                frames.push(seen(&mut point, &delimiter, Timestamp(0), false));
            }
            json!({
                "frames": frames,
                "delimited": delimited,
                "refuses": interval == REFUSING,
                "control_frames": control_frames(&mut point, end),
            })
        })
        .collect();
    json!({ "configuration": configuration.id(), "point_id": POINT, "intervals": intervals })
}

/// What a tap at the receiving end with a key sees and reports: the key takes effect at an end that the register asks for, a second one at
/// a boundary among delimiters. The delimiters of somebody without the key come before each genuine one, and count in the control frames
/// alone. The bench makes all tags itself, of what is signed.
fn keyed_vectors(configuration: &Configuration) -> Value {
    let mut point = MeasurementPoint::new(configuration, Role::Receiver);
    point.set_id(POINT);
    let mut source = Frames::new(7);
    let keys = [(1, 11), (2, 29)].map(|(id, step)| {
        Key::new(
            NonZeroU16::MIN.saturating_add(id),
            std::array::from_fn(|byte| (byte as u8).wrapping_mul(step)),
        )
    });
    let given = |key: &Key, from: u32| json!({ "id": key.id(), "secret": hex(key.secret()), "from": from });
    let of = |number: u32| Delimiter {
        interval: number,
        boot_epoch: SENDER_EPOCH,
        ..Delimiter::new(configuration, 0)
    };
    let mut traffic = |point: &mut MeasurementPoint| -> Vec<Value> {
        (0..KEYED_FRAMES)
            .map(|time| seen(point, &source.next_frame(), Timestamp(time << 32), false))
            .collect()
    };
    let at_first = traffic(&mut point);
    point.schedule_key(Some(keys[0].clone()), 0);
    let mut intervals = vec![json!({
        "key": given(&keys[0], 0),
        "steps": [{ "frames": at_first }],
        "control_frames": control_frames(&mut point, IntervalEnd::Request),
    })];
    // Each interval's genuine delimiters, of which the last one ends it, with what is forged in front of each. The first one with a key is a
    // candidate; what is forged would be that in its stead until the sender is known, and whenever it is ahead. In the last interval another
    // key signs and the one that is due is lost, so that the candidate's successor is tried.
    let mut number = FIRST_DELIMITER;
    let plans: [&[(u32, Forged)]; 3] = [
        &[(0, Forged::All), (1, Forged::None)],
        &[(2, Forged::All)],
        &[(4, Forged::All), (5, Forged::Tag), (6, Forged::None)],
    ];
    for (interval, plan) in plans.into_iter().enumerate() {
        let changes = interval == plans.len() - 1;
        let (key, other) = if changes { (&keys[1], &keys[0]) } else { (&keys[0], &keys[1]) };
        if changes {
            point.schedule_key(Some(key.clone()), number);
        }
        let given = changes.then(|| given(key, number));
        let (mut steps, mut sent) = (vec![], vec![]);
        for (ahead, forged) in plan {
            number = FIRST_DELIMITER + ahead;
            let mut frames = traffic(&mut point);
            for frame in forged.of(of(number), key, other) {
                frames.push(seen(&mut point, &frame, Timestamp(0), false));
                point.observe_delimiter(&frame, |_| sent.push(String::new()));
            }
            let genuine = of(number).signed(key);
            frames.push(seen(&mut point, &genuine, Timestamp(0), false));
            point.observe_delimiter(&genuine, |frame| sent.push(hex(frame)));
            steps.push(json!({ "frames": frames }));
        }
        number += 1;
        intervals.push(json!({ "key": given, "steps": steps, "control_frames": sent }));
    }
    json!({ "configuration": configuration.id(), "point_id": POINT, "intervals": intervals })
}

/// Delimiters that would end the interval if nobody looked at their tags, or not at all of them.
enum Forged {
    None,
    /// With another tag.
    Tag,
    All,
}

impl Forged {
    fn of(&self, delimiter: Delimiter, key: &Key, other: &Key) -> Vec<[u8; BYTES]> {
        let altered = |at: usize| {
            let mut frame = delimiter.signed(key);
            frame[at] ^= 1;
            frame
        };
        match self {
            Forged::None => vec![],
            Forged::Tag => vec![altered(40)],
            // Number, epoch, identifier, reserved bytes, the tag's first and last byte.
            Forged::All => {
                let altered = [23, 35, 37, 39, 40, 55].map(altered);
                altered.into_iter().chain([delimiter.encode(), delimiter.signed(other)]).collect()
            }
        }
    }
}

/// What the inline design at the sending end passes and inserts, with its clock standing still. What it inserts, it
/// sees as well: the delimiter in the interval that it ends, control frames in the interval behind theirs.
fn inline_vectors(configuration: &Configuration) -> Value {
    let mut point = MeasurementPoint::new(configuration, Role::Sender);
    // The bench waits until frames are counted before it calls the clock synchronised.
    point.clock_unlocked();
    let mut source = Frames::new(6);
    let mut sent: Vec<Vec<u8>> = vec![];
    let intervals: Vec<Value> = (0..INTERVALS)
        .map(|interval| {
            let inserted: Vec<String> = sent.iter().map(|frame| hex(frame)).collect();
            sent.drain(..).for_each(|frame| point.observe(&frame, Timestamp(0)));
            let frames: Vec<Value> = (0..FRAMES)
                .map(|number| seen(&mut point, &source.next_frame(), STOPPED, number % 16 == 7))
                .collect();
            let counts = counts(&point);
            let delimiter = Delimiter::new(configuration, interval).encode();
            point.observe(&delimiter, Timestamp(0));
            point.end_interval_at(interval, |frame| sent.push(frame.to_vec()));
            json!({
                "frames": frames,
                "control_frames": inserted,
                "counts": counts,
                "delimiter": hex(&delimiter),
            })
        })
        .collect();
    let last: Vec<String> = sent.iter().map(|frame| hex(frame)).collect();
    json!({
        "configuration": configuration.id(),
        "clock": STOPPED.0,
        "intervals": intervals,
        "control_frames": last,
    })
}

/// Records a frame, and returns what the bench has to send and what is counted then.
fn seen(point: &mut MeasurementPoint, frame: &[u8], time: Timestamp, bad: bool) -> Value {
    if bad {
        point.observe_bad()
    } else {
        point.observe(frame, time)
    }
    json!({ "bytes": hex(frame), "timestamp": time.0, "bad": u8::from(bad), "counts": counts(point) })
}

/// The running interval's counts, by the names of their registers.
fn counts(point: &MeasurementPoint) -> Value {
    let totals = point.totals(0);
    json!({
        "packets": point.packets(),
        "bytes": point.bytes(),
        "unmeasured": totals.unmeasured,
        "bad": totals.bad,
        "unmatched": point.unmatched(),
    })
}

/// Ends the interval.
fn control_frames(point: &mut MeasurementPoint, end: IntervalEnd) -> Vec<String> {
    let mut frames = vec![];
    point.end_interval(end, |frame| frames.push(hex(frame)));
    frames
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
