//! What measurement points are made of: software or hardware.

use crate::failure::Failure;
use crate::hardware::{self, Hardware};
use crate::point::Point;
use clap::ValueEnum;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::MeasurementPoint;
use deltaline_model::wire::frame::Role;
use std::fmt;

/// What the measurement points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Through {
    /// The software measurement point
    Software,
    /// The hardware design, built with Verilator
    Hardware,
}

impl fmt::Display for Through {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Through::Software => "software",
            Through::Hardware => "hardware",
        })
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
            Through::Hardware => Points::Hardware(Box::new(hardware::build(configuration)?)),
        })
    }

    pub(crate) fn point(&self, role: Role) -> Result<Box<dyn Point>, Failure> {
        match self {
            Points::Software(configuration) => {
                let mut point = MeasurementPoint::new(configuration, role);
                if configuration.kind().remembers_packets() && configuration.classes() == 1 {
                    point.remember_packets();
                }
                Ok(Box::new(point))
            }
            Points::Hardware(hardware) => hardware::point(hardware, role),
        }
    }
}
