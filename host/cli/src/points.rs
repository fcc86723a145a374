//! Measurement points of either kind behind one interface.

use crate::arguments::Through;
use crate::exit::{Exit, Failure};
use crate::progress::with_spinner;
use deltaline_cosim::hardware::{Hardware, HardwareError, HardwarePoint};
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::identity::identify;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use verilator_sys::Toolchain;

/// One end of a measurement segment.
pub(crate) trait Point {
    /// Records a frame whose first byte was seen at `time`; true when bytes of its identity are missing.
    fn observe(&mut self, frame: &[u8], time: Timestamp) -> Result<bool, HardwareError>;

    /// A delimiter has come: ends the interval and hands out its control frames.
    fn end_interval(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), HardwareError>;

    /// Clock cycles so far; none where there is no clock.
    fn cycles(&self) -> Option<u64>;
}

impl Point for MeasurementPoint {
    fn observe(&mut self, frame: &[u8], time: Timestamp) -> Result<bool, HardwareError> {
        let before = self.truncated();
        MeasurementPoint::observe(self, frame, time);
        Ok(self.truncated() != before)
    }

    fn end_interval(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), HardwareError> {
        MeasurementPoint::end_interval(self, IntervalEnd::Delimiter, emit);
        Ok(())
    }

    fn cycles(&self) -> Option<u64> {
        None
    }
}

impl Point for HardwarePoint {
    fn observe(&mut self, frame: &[u8], time: Timestamp) -> Result<bool, HardwareError> {
        HardwarePoint::observe(self, frame, time)?;
        Ok(identify(frame).is_ok_and(|identity| identity.truncated))
    }

    fn end_interval(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), HardwareError> {
        HardwarePoint::end_interval(self)?;
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

/// What measurement points are made of.
pub(crate) enum Points {
    Software(Box<Configuration>),
    Hardware(Box<Hardware>),
}

impl Points {
    pub(crate) fn build(through: Through, configuration: &Configuration) -> Result<Self, Failure> {
        Ok(match through {
            Through::Software => Points::Software(Box::new(*configuration)),
            Through::Hardware => {
                let toolchain = Toolchain::find().map_err(|error| Failure::new(Exit::Hardware, error))?;
                let build = || Hardware::build(&toolchain, configuration);
                Points::Hardware(Box::new(with_spinner("building the hardware", build)?))
            }
        })
    }

    pub(crate) fn point(&self, role: Role) -> Result<Box<dyn Point>, HardwareError> {
        Ok(match self {
            Points::Software(configuration) => Box::new(MeasurementPoint::new(configuration, role)),
            Points::Hardware(hardware) => Box::new(hardware.point(role)?),
        })
    }
}
