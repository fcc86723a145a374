//! The hardware design under simulation.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::point::{Batch, Point};
use deltaline_cosim::error::HardwareError;
use deltaline_cosim::hardware::HardwarePoint;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::identity::identify;
use deltaline_model::wire::frame::Role;
use indicatif::ProgressBar;
use std::time::Duration;
use verilator_sys::Toolchain;

pub(crate) use deltaline_cosim::hardware::Hardware;

impl From<HardwareError> for Failure {
    fn from(error: HardwareError) -> Self {
        Failure::new(Exit::Hardware, error)
    }
}

/// From one turn of a spinner to the next.
const TURN: Duration = Duration::from_millis(200);

/// Builds the simulation of a configuration.
pub(crate) fn build(configuration: &Configuration) -> Result<Hardware, Failure> {
    let toolchain = Toolchain::find().map_err(|error| Failure::new(Exit::Hardware, error))?;
    let spinner = ProgressBar::new_spinner().with_message("building the hardware");
    spinner.enable_steady_tick(TURN);
    let hardware = Hardware::build(&toolchain, configuration);
    spinner.finish_and_clear();
    Ok(hardware?)
}

/// One end.
pub(crate) fn point(hardware: &Hardware, role: Role) -> Result<Box<dyn Point>, Failure> {
    let mut point = hardware.point(role)?;
    // What came before the first interval is of no interest.
    point.delimit()?;
    point.wait_for_frames()?;
    point.take_frames();
    Ok(Box::new(point))
}

impl Point for HardwarePoint {
    fn observe(&mut self, batch: &mut Batch) -> Result<u64, Failure> {
        let mut truncated = 0;
        for (frame, time) in batch.packets() {
            HardwarePoint::observe(self, frame, time)?;
            truncated += u64::from(identify(frame).is_ok_and(|identity| identity.truncated));
        }
        batch.clear();
        Ok(truncated)
    }

    fn end_interval(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        self.delimit()?;
        self.wait_for_frames()?;
        for frame in self.take_frames() {
            emit(&frame);
        }
        Ok(())
    }

    fn cycles(&self) -> Option<u64> {
        Some(HardwarePoint::cycles(self))
    }
}
