//! The register map.
//!
//! Made by `cargo xtask registers` from `hdl/registers/deltaline.rdl`: change that.

// All fields and types are handled alike, where a hand would leave out a shift by 0 or a conversion.
#![allow(clippy::identity_op, clippy::unnecessary_cast, clippy::useless_conversion)]

use super::{Bus, Field, Kind, Legal, Register, Registers};

/// All registers, by ascending offset.
pub const REGISTERS: [Register; 44] = [
    Register {
        name: "block_type",
        offset: 0x0,
        width: 32,
        guarded: false,
        fields: &[Field {
            name: "value",
            low: 0,
            width: 32,
            kind: Kind::Constant(0x44454c54),
            legal: Legal::Any,
        }],
    },
    Register {
        name: "version",
        offset: 0x4,
        width: 32,
        guarded: false,
        fields: &[
            Field { name: "minor", low: 0, width: 16, kind: Kind::Constant(0x5), legal: Legal::Any },
            Field { name: "major", low: 16, width: 16, kind: Kind::Constant(0x1), legal: Legal::Any },
        ],
    },
    Register {
        name: "next_block",
        offset: 0x8,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Constant(0x0), legal: Legal::Any }],
    },
    Register {
        name: "capability",
        offset: 0xc,
        width: 32,
        guarded: false,
        fields: &[
            Field { name: "data_bytes", low: 0, width: 8, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "lanes", low: 8, width: 4, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "banks", low: 12, width: 4, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "rows_log2", low: 16, width: 5, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "classes", low: 21, width: 3, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "hash", low: 24, width: 1, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "has_authentication", low: 25, width: 1, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "has_mixing", low: 27, width: 1, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "has_clock", low: 28, width: 1, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "has_delimiters", low: 29, width: 1, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "has_adaptive", low: 30, width: 1, kind: Kind::Emitted, legal: Legal::Any },
            Field { name: "has_digests", low: 31, width: 1, kind: Kind::Emitted, legal: Legal::Any },
        ],
    },
    Register {
        name: "configuration",
        offset: 0x10,
        width: 64,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 64, kind: Kind::Emitted, legal: Legal::Any }],
    },
    Register {
        name: "build",
        offset: 0x18,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Emitted, legal: Legal::Any }],
    },
    Register {
        name: "control",
        offset: 0x20,
        width: 32,
        guarded: false,
        fields: &[
            Field { name: "role", low: 0, width: 1, kind: Kind::Storage, legal: Legal::Only(&[0, 1]) },
            Field {
                name: "interval_source",
                low: 4,
                width: 2,
                kind: Kind::Storage,
                legal: Legal::Only(&[0, 1]),
            },
            Field { name: "interval_log2", low: 8, width: 6, kind: Kind::Storage, legal: Legal::UpTo(47) },
        ],
    },
    Register {
        name: "status",
        offset: 0x24,
        width: 32,
        guarded: false,
        fields: &[
            Field { name: "running", low: 0, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "ptp_locked", low: 1, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "drain_busy", low: 2, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "end_refused", low: 3, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "prefixes_pending", low: 4, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "key_pending", low: 5, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "mixing_pending", low: 6, width: 1, kind: Kind::Input, legal: Legal::Any },
        ],
    },
    Register {
        name: "snapshot",
        offset: 0x28,
        width: 32,
        guarded: false,
        fields: &[Field { name: "take", low: 0, width: 1, kind: Kind::Strobe, legal: Legal::Any }],
    },
    Register {
        name: "interval",
        offset: 0x2c,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "packets",
        offset: 0x30,
        width: 64,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 48, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "bytes",
        offset: 0x38,
        width: 64,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 48, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "unmeasured",
        offset: 0x40,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "bad",
        offset: 0x44,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "refused_ends",
        offset: 0x48,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 16, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "control_frames",
        offset: 0x4c,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "unmatched",
        offset: 0x50,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "delimiters",
        offset: 0x54,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "delimiter_gaps",
        offset: 0x58,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "interval_end",
        offset: 0x5c,
        width: 32,
        guarded: false,
        fields: &[Field { name: "now", low: 0, width: 1, kind: Kind::Strobe, legal: Legal::Any }],
    },
    Register {
        name: "timestamp",
        offset: 0x60,
        width: 64,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 64, kind: Kind::Snapshot, legal: Legal::Any }],
    },
    Register {
        name: "clock_status",
        offset: 0x68,
        width: 32,
        guarded: false,
        fields: &[
            Field { name: "locked", low: 0, width: 1, kind: Kind::Input, legal: Legal::Any },
            Field { name: "slewing", low: 1, width: 1, kind: Kind::Input, legal: Legal::Any },
        ],
    },
    Register {
        name: "clock_synchronised",
        offset: 0x6c,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 1, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "clock_period",
        offset: 0x70,
        width: 64,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 40, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "clock_rate",
        offset: 0x78,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "clock_offset",
        offset: 0x7c,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "clock_value",
        offset: 0x80,
        width: 64,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 64, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "clock_command",
        offset: 0x88,
        width: 32,
        guarded: false,
        fields: &[
            Field { name: "set", low: 0, width: 1, kind: Kind::Strobe, legal: Legal::Any },
            Field { name: "step", low: 1, width: 1, kind: Kind::Strobe, legal: Legal::Any },
            Field { name: "slew", low: 2, width: 1, kind: Kind::Strobe, legal: Legal::Any },
        ],
    },
    Register {
        name: "prefixes_next",
        offset: 0x90,
        width: 64,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 64, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "prefixes_from",
        offset: 0x98,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "prefixes_schedule",
        offset: 0x9c,
        width: 32,
        guarded: true,
        fields: &[Field { name: "now", low: 0, width: 1, kind: Kind::Strobe, legal: Legal::Any }],
    },
    Register {
        name: "point_id",
        offset: 0xa0,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "boot_epoch",
        offset: 0xa4,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "key_low",
        offset: 0xa8,
        width: 64,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 64, kind: Kind::Secret, legal: Legal::Any }],
    },
    Register {
        name: "key_high",
        offset: 0xb0,
        width: 64,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 64, kind: Kind::Secret, legal: Legal::Any }],
    },
    Register {
        name: "key_id",
        offset: 0xb8,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 16, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "key_from",
        offset: 0xbc,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "key_schedule",
        offset: 0xc0,
        width: 32,
        guarded: true,
        fields: &[Field { name: "now", low: 0, width: 1, kind: Kind::Strobe, legal: Legal::Any }],
    },
    Register {
        name: "least_interval",
        offset: 0xc4,
        width: 32,
        guarded: false,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "mixing_matrix",
        offset: 0xd0,
        width: 64,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 63, kind: Kind::Secret, legal: Legal::Any }],
    },
    Register {
        name: "mixing_offset",
        offset: 0xd8,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Secret, legal: Legal::Any }],
    },
    Register {
        name: "mixing_id",
        offset: 0xdc,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "mixing_from",
        offset: 0xe0,
        width: 32,
        guarded: true,
        fields: &[Field { name: "value", low: 0, width: 32, kind: Kind::Storage, legal: Legal::Any }],
    },
    Register {
        name: "mixing_schedule",
        offset: 0xe4,
        width: 32,
        guarded: true,
        fields: &[Field { name: "now", low: 0, width: 1, kind: Kind::Strobe, legal: Legal::Any }],
    },
];

/// Offsets of the registers in bytes.
pub mod offset {
    /// Type.
    pub const BLOCK_TYPE: u32 = 0x0;
    /// Version.
    pub const VERSION: u32 = 0x4;
    /// Next.
    pub const NEXT_BLOCK: u32 = 0x8;
    /// Capability.
    pub const CAPABILITY: u32 = 0xc;
    /// Configuration identifier.
    pub const CONFIGURATION: u32 = 0x10;
    /// Build.
    pub const BUILD: u32 = 0x18;
    /// Control.
    pub const CONTROL: u32 = 0x20;
    /// Status.
    pub const STATUS: u32 = 0x24;
    /// Snapshot.
    pub const SNAPSHOT: u32 = 0x28;
    /// Interval.
    pub const INTERVAL: u32 = 0x2c;
    /// Packets.
    pub const PACKETS: u32 = 0x30;
    /// Bytes.
    pub const BYTES: u32 = 0x38;
    /// Unmeasured frames.
    pub const UNMEASURED: u32 = 0x40;
    /// Bad frames.
    pub const BAD: u32 = 0x44;
    /// Refused interval ends.
    pub const REFUSED_ENDS: u32 = 0x48;
    /// Control frames.
    pub const CONTROL_FRAMES: u32 = 0x4c;
    /// Unmatched packets.
    pub const UNMATCHED: u32 = 0x50;
    /// Delimiters.
    pub const DELIMITERS: u32 = 0x54;
    /// Delimiter gaps.
    pub const DELIMITER_GAPS: u32 = 0x58;
    /// Interval end.
    pub const INTERVAL_END: u32 = 0x5c;
    /// Timestamp.
    pub const TIMESTAMP: u32 = 0x60;
    /// Clock status.
    pub const CLOCK_STATUS: u32 = 0x68;
    /// Clock synchronised.
    pub const CLOCK_SYNCHRONISED: u32 = 0x6c;
    /// Clock period.
    pub const CLOCK_PERIOD: u32 = 0x70;
    /// Clock rate.
    pub const CLOCK_RATE: u32 = 0x78;
    /// Clock offset.
    pub const CLOCK_OFFSET: u32 = 0x7c;
    /// Clock value.
    pub const CLOCK_VALUE: u32 = 0x80;
    /// Clock command.
    pub const CLOCK_COMMAND: u32 = 0x88;
    /// Next prefix lengths.
    pub const PREFIXES_NEXT: u32 = 0x90;
    /// First interval of the next prefix lengths.
    pub const PREFIXES_FROM: u32 = 0x98;
    /// Schedule prefix lengths.
    pub const PREFIXES_SCHEDULE: u32 = 0x9c;
    /// Point identifier.
    pub const POINT_ID: u32 = 0xa0;
    /// Boot epoch.
    pub const BOOT_EPOCH: u32 = 0xa4;
    /// Key, first half.
    pub const KEY_LOW: u32 = 0xa8;
    /// Key, second half.
    pub const KEY_HIGH: u32 = 0xb0;
    /// Key identifier.
    pub const KEY_ID: u32 = 0xb8;
    /// First interval of the next key.
    pub const KEY_FROM: u32 = 0xbc;
    /// Schedule key.
    pub const KEY_SCHEDULE: u32 = 0xc0;
    /// Least interval.
    pub const LEAST_INTERVAL: u32 = 0xc4;
    /// Mixing, matrix.
    pub const MIXING_MATRIX: u32 = 0xd0;
    /// Mixing, offset.
    pub const MIXING_OFFSET: u32 = 0xd8;
    /// Mixing identifier.
    pub const MIXING_ID: u32 = 0xdc;
    /// First interval of the next mixing.
    pub const MIXING_FROM: u32 = 0xe0;
    /// Schedule mixing.
    pub const MIXING_SCHEDULE: u32 = 0xe4;
}

/// The values of fields of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// Random rows.
    H3 = 0,
    /// Residues modulo an irreducible polynomial.
    Rabin = 1,
}

impl HashKind {
    fn of(value: u32) -> Option<Self> {
        match value {
            0 => Some(HashKind::H3),
            1 => Some(HashKind::Rabin),
            _ => None,
        }
    }
}

/// The values of fields of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The end that packets pass first.
    Sender = 0,
    /// The end that packets pass last.
    Receiver = 1,
}

impl Role {
    fn of(value: u32) -> Option<Self> {
        match value {
            0 => Some(Role::Sender),
            1 => Some(Role::Receiver),
            _ => None,
        }
    }
}

/// The values of fields of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalSource {
    /// Only by delimiters, by `interval_end` and by the port of that name.
    None = 0,
    /// Also whenever bit `interval_log2` of the clock's nanoseconds changes.
    Clock = 1,
}

impl IntervalSource {
    fn of(value: u32) -> Option<Self> {
        match value {
            0 => Some(IntervalSource::None),
            1 => Some(IntervalSource::Clock),
            _ => None,
        }
    }
}

/// Version: its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(pub u32);

impl Version {
    /// Bits of `minor`.
    pub const MINOR: u32 = 0xffff;
    /// Bits of `major`.
    pub const MAJOR: u32 = 0xffff0000;

    /// Increases when registers are added.
    pub fn minor(self) -> u32 {
        ((self.0 & Self::MINOR) >> 0) as u32
    }

    /// Increases when registers change their meaning.
    pub fn major(self) -> u32 {
        ((self.0 & Self::MAJOR) >> 16) as u32
    }
}

/// Capability: its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capability(pub u32);

impl Capability {
    /// Bits of `data_bytes`.
    pub const DATA_BYTES: u32 = 0xff;
    /// Bits of `lanes`.
    pub const LANES: u32 = 0xf00;
    /// Bits of `banks`.
    pub const BANKS: u32 = 0xf000;
    /// Bits of `rows_log2`.
    pub const ROWS_LOG2: u32 = 0x1f0000;
    /// Bits of `classes`.
    pub const CLASSES: u32 = 0xe00000;
    /// Bits of `hash`.
    pub const HASH: u32 = 0x1000000;
    /// Bits of `has_authentication`.
    pub const HAS_AUTHENTICATION: u32 = 0x2000000;
    /// Bits of `has_mixing`.
    pub const HAS_MIXING: u32 = 0x8000000;
    /// Bits of `has_clock`.
    pub const HAS_CLOCK: u32 = 0x10000000;
    /// Bits of `has_delimiters`.
    pub const HAS_DELIMITERS: u32 = 0x20000000;
    /// Bits of `has_adaptive`.
    pub const HAS_ADAPTIVE: u32 = 0x40000000;
    /// Bits of `has_digests`.
    pub const HAS_DIGESTS: u32 = 0x80000000;

    /// Bytes of a beat of the observed stream.
    pub fn data_bytes(self) -> u32 {
        ((self.0 & Self::DATA_BYTES) >> 0) as u32
    }

    /// With another `data_bytes`.
    #[must_use]
    pub fn with_data_bytes(self, value: u32) -> Self {
        Capability(self.0 & !Self::DATA_BYTES | ((u32::from(value)) << 0) & Self::DATA_BYTES)
    }

    /// Frames that can be counted in one cycle.
    pub fn lanes(self) -> u32 {
        ((self.0 & Self::LANES) >> 8) as u32
    }

    /// With another `lanes`.
    #[must_use]
    pub fn with_lanes(self, value: u32) -> Self {
        Capability(self.0 & !Self::LANES | ((u32::from(value)) << 8) & Self::LANES)
    }

    /// Banks of cells.
    pub fn banks(self) -> u32 {
        ((self.0 & Self::BANKS) >> 12) as u32
    }

    /// With another `banks`.
    #[must_use]
    pub fn with_banks(self, value: u32) -> Self {
        Capability(self.0 & !Self::BANKS | ((u32::from(value)) << 12) & Self::BANKS)
    }

    /// log2 of the rows of a bank.
    pub fn rows_log2(self) -> u32 {
        ((self.0 & Self::ROWS_LOG2) >> 16) as u32
    }

    /// With another `rows_log2`.
    #[must_use]
    pub fn with_rows_log2(self, value: u32) -> Self {
        Capability(self.0 & !Self::ROWS_LOG2 | ((u32::from(value)) << 16) & Self::ROWS_LOG2)
    }

    /// Measurement classes; class c reports as segment + c.
    pub fn classes(self) -> u32 {
        ((self.0 & Self::CLASSES) >> 21) as u32
    }

    /// With another `classes`.
    #[must_use]
    pub fn with_classes(self, value: u32) -> Self {
        Capability(self.0 & !Self::CLASSES | ((u32::from(value)) << 21) & Self::CLASSES)
    }

    /// The hash function. `None`: a value that this map does not know.
    pub fn hash(self) -> Option<HashKind> {
        HashKind::of(((self.0 & Self::HASH) >> 24) as u32)
    }

    /// With another `hash`.
    #[must_use]
    pub fn with_hash(self, value: HashKind) -> Self {
        Capability(self.0 & !Self::HASH | ((value as u32) << 24) & Self::HASH)
    }

    /// Control frames can be authenticated; without it writes to `boot_epoch` and the `key` registers are refused.
    pub fn has_authentication(self) -> bool {
        self.0 & Self::HAS_AUTHENTICATION != 0
    }

    /// With another `has_authentication`.
    #[must_use]
    pub fn with_has_authentication(self, value: bool) -> Self {
        Capability(self.0 & !Self::HAS_AUTHENTICATION | ((u32::from(value)) << 25) & Self::HAS_AUTHENTICATION)
    }

    /// The mixing can be changed; without it writes to the `mixing` registers are refused.
    pub fn has_mixing(self) -> bool {
        self.0 & Self::HAS_MIXING != 0
    }

    /// With another `has_mixing`.
    #[must_use]
    pub fn with_has_mixing(self, value: bool) -> Self {
        Capability(self.0 & !Self::HAS_MIXING | ((u32::from(value)) << 27) & Self::HAS_MIXING)
    }

    /// The adjustable clock is built in; without it the `clock` registers have no effect.
    pub fn has_clock(self) -> bool {
        self.0 & Self::HAS_CLOCK != 0
    }

    /// With another `has_clock`.
    #[must_use]
    pub fn with_has_clock(self, value: bool) -> Self {
        Capability(self.0 & !Self::HAS_CLOCK | ((u32::from(value)) << 28) & Self::HAS_CLOCK)
    }

    /// Delimiters are recognised in the stream; without it their counters stay 0.
    pub fn has_delimiters(self) -> bool {
        self.0 & Self::HAS_DELIMITERS != 0
    }

    /// With another `has_delimiters`.
    #[must_use]
    pub fn with_has_delimiters(self, value: bool) -> Self {
        Capability(self.0 & !Self::HAS_DELIMITERS | ((u32::from(value)) << 29) & Self::HAS_DELIMITERS)
    }

    /// Prefix lengths can be changed; without it writes to the `prefixes` registers are refused.
    pub fn has_adaptive(self) -> bool {
        self.0 & Self::HAS_ADAPTIVE != 0
    }

    /// With another `has_adaptive`.
    #[must_use]
    pub fn with_has_adaptive(self, value: bool) -> Self {
        Capability(self.0 & !Self::HAS_ADAPTIVE | ((u32::from(value)) << 30) & Self::HAS_ADAPTIVE)
    }

    /// Rows keep digests, which the control frames carry.
    pub fn has_digests(self) -> bool {
        self.0 & Self::HAS_DIGESTS != 0
    }

    /// With another `has_digests`.
    #[must_use]
    pub fn with_has_digests(self, value: bool) -> Self {
        Capability(self.0 & !Self::HAS_DIGESTS | ((u32::from(value)) << 31) & Self::HAS_DIGESTS)
    }
}

/// Control: its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Control(pub u32);

impl Control {
    /// Bits of `role`.
    pub const ROLE: u32 = 0x1;
    /// Bits of `interval_source`.
    pub const INTERVAL_SOURCE: u32 = 0x30;
    /// Bits of `interval_log2`.
    pub const INTERVAL_LOG2: u32 = 0x3f00;

    /// Which end of the segment this is; control frames carry it. `None`: a value that this map does not know.
    pub fn role(self) -> Option<Role> {
        Role::of(((self.0 & Self::ROLE) >> 0) as u32)
    }

    /// With another `role`.
    #[must_use]
    pub fn with_role(self, value: Role) -> Self {
        Control(self.0 & !Self::ROLE | ((value as u32) << 0) & Self::ROLE)
    }

    /// What ends intervals. `None`: a value that this map does not know.
    pub fn interval_source(self) -> Option<IntervalSource> {
        IntervalSource::of(((self.0 & Self::INTERVAL_SOURCE) >> 4) as u32)
    }

    /// With another `interval_source`.
    #[must_use]
    pub fn with_interval_source(self, value: IntervalSource) -> Self {
        Control(self.0 & !Self::INTERVAL_SOURCE | ((value as u32) << 4) & Self::INTERVAL_SOURCE)
    }

    /// With source `clock`: intervals of 2^n ns; 0: never.
    pub fn interval_log2(self) -> u32 {
        ((self.0 & Self::INTERVAL_LOG2) >> 8) as u32
    }

    /// With another `interval_log2`.
    #[must_use]
    pub fn with_interval_log2(self, value: u32) -> Self {
        Control(self.0 & !Self::INTERVAL_LOG2 | ((u32::from(value)) << 8) & Self::INTERVAL_LOG2)
    }
}

/// Status: its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status(pub u32);

impl Status {
    /// Bits of `running`.
    pub const RUNNING: u32 = 0x1;
    /// Bits of `ptp_locked`.
    pub const PTP_LOCKED: u32 = 0x2;
    /// Bits of `drain_busy`.
    pub const DRAIN_BUSY: u32 = 0x4;
    /// Bits of `end_refused`.
    pub const END_REFUSED: u32 = 0x8;
    /// Bits of `prefixes_pending`.
    pub const PREFIXES_PENDING: u32 = 0x10;
    /// Bits of `key_pending`.
    pub const KEY_PENDING: u32 = 0x20;
    /// Bits of `mixing_pending`.
    pub const MIXING_PENDING: u32 = 0x40;

    /// The memories have been cleared after reset, and packets are counted.
    pub fn running(self) -> bool {
        self.0 & Self::RUNNING != 0
    }

    /// The clock is locked.
    pub fn ptp_locked(self) -> bool {
        self.0 & Self::PTP_LOCKED != 0
    }

    /// The last interval is still being sent.
    pub fn drain_busy(self) -> bool {
        self.0 & Self::DRAIN_BUSY != 0
    }

    /// The last interval end was refused: the drain was busy, or `least_interval` was not over.
    pub fn end_refused(self) -> bool {
        self.0 & Self::END_REFUSED != 0
    }

    /// Scheduled prefix lengths are waiting for their interval.
    pub fn prefixes_pending(self) -> bool {
        self.0 & Self::PREFIXES_PENDING != 0
    }

    /// A scheduled key is waiting for its interval.
    pub fn key_pending(self) -> bool {
        self.0 & Self::KEY_PENDING != 0
    }

    /// A scheduled mixing is waiting for its interval.
    pub fn mixing_pending(self) -> bool {
        self.0 & Self::MIXING_PENDING != 0
    }
}

/// Clock status: its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClockStatus(pub u32);

impl ClockStatus {
    /// Bits of `locked`.
    pub const LOCKED: u32 = 0x1;
    /// Bits of `slewing`.
    pub const SLEWING: u32 = 0x2;

    /// Software declares it synchronised, and it is not being stepped.
    pub fn locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// A slew is under way.
    pub fn slewing(self) -> bool {
        self.0 & Self::SLEWING != 0
    }
}

/// Clock command: its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClockCommand(pub u32);

impl ClockCommand {
    /// Bits of `set`.
    pub const SET: u32 = 0x1;
    /// Bits of `step`.
    pub const STEP: u32 = 0x2;
    /// Bits of `slew`.
    pub const SLEW: u32 = 0x4;

    /// Write 1: the time goes on from `clock_value`.
    pub fn set(self) -> bool {
        self.0 & Self::SET != 0
    }

    /// With another `set`.
    #[must_use]
    pub fn with_set(self, value: bool) -> Self {
        ClockCommand(self.0 & !Self::SET | ((u32::from(value)) << 0) & Self::SET)
    }

    /// Write 1: add `clock_value` to the time, modulo 2^64.
    pub fn step(self) -> bool {
        self.0 & Self::STEP != 0
    }

    /// With another `step`.
    #[must_use]
    pub fn with_step(self, value: bool) -> Self {
        ClockCommand(self.0 & !Self::STEP | ((u32::from(value)) << 1) & Self::STEP)
    }

    /// Write 1: spread `clock_offset` over the next 65,536 cycles.
    pub fn slew(self) -> bool {
        self.0 & Self::SLEW != 0
    }

    /// With another `slew`.
    #[must_use]
    pub fn with_slew(self, value: bool) -> Self {
        ClockCommand(self.0 & !Self::SLEW | ((u32::from(value)) << 2) & Self::SLEW)
    }
}

impl<B: Bus> Registers<B> {
    /// Type. Kind of this block: "DELT" in ASCII, first letter in the highest byte.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn block_type(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::BLOCK_TYPE)
    }

    /// Version. Version of this register map.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn version(&mut self) -> Result<Version, B::Error> {
        self.bus.read(offset::VERSION).map(Version)
    }

    /// Next. Offset of the next block from this one; 0 in the last block.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn next_block(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::NEXT_BLOCK)
    }

    /// Capability. The options that the hardware was built with.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn capability(&mut self) -> Result<Capability, B::Error> {
        self.bus.read(offset::CAPABILITY).map(Capability)
    }

    /// Configuration identifier. Identifies all settings that must be equal at both ends; control frames carry it too.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn configuration(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::CONFIGURATION)
    }

    /// Build. Identity of the build, as given when the Verilog was emitted.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn build(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::BUILD)
    }

    /// Control.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn control(&mut self) -> Result<Control, B::Error> {
        self.bus.read(offset::CONTROL).map(Control)
    }

    /// Writes `control`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_control(&mut self, value: Control) -> Result<(), B::Error> {
        self.bus.write(offset::CONTROL, value.0)
    }

    /// Status. The state at the moment of reading.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn status(&mut self) -> Result<Status, B::Error> {
        self.bus.read(offset::STATUS).map(Status)
    }

    /// Snapshot. Write 1 to take all registers marked *snapshot* in one cycle. They keep their values until the next.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn snapshot(&mut self) -> Result<(), B::Error> {
        self.bus.write(offset::SNAPSHOT, 1)
    }

    /// Interval. Number of the running interval, modulo 2^32.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn interval(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::INTERVAL)
    }

    /// Packets. Measured packets of the running interval so far, of all classes, modulo 2^48.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn packets(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::PACKETS)
    }

    /// Bytes. IP octets of the measured packets of the running interval so far, of all classes, modulo 2^48.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn bytes(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::BYTES)
    }

    /// Unmeasured frames. Frames of the running interval so far that are not measured: not IP, or in no class.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn unmeasured(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::UNMEASURED)
    }

    /// Bad frames. Frames of the running interval so far that the MAC marked bad.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn bad(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::BAD)
    }

    /// Refused interval ends. Interval ends since reset that were refused because they came during a drain or before `least_interval` was over, saturating.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn refused_ends(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::REFUSED_ENDS)
    }

    /// Control frames. Control frames sent since reset, saturating.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn control_frames(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::CONTROL_FRAMES)
    }

    /// Unmatched packets. Packets of the running interval so far that no entry of the classifier matches, saturating; they are part of `unmeasured`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn unmatched(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::UNMATCHED)
    }

    /// Delimiters. Delimiters of this measurement seen in the stream since reset, saturating.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn delimiters(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::DELIMITERS)
    }

    /// Delimiter gaps. Delimiters since reset that ended an interval though another one was due, saturating: those before them were lost. Behind one that was refused the next one is due, and counts in refused_ends alone.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn delimiter_gaps(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::DELIMITER_GAPS)
    }

    /// Interval end. Write 1 to end the interval now; in line, this inserts a delimiter, on a tap it flags the interval and the next one as timed. In line at the receiver, or while a delimiter is due, it has no effect.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn interval_end(&mut self) -> Result<(), B::Error> {
        self.bus.write(offset::INTERVAL_END, 1)
    }

    /// Timestamp. The clock at the snapshot, PTP relative-64: ns in bits 63:16, their fraction in bits 15:0.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn timestamp(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::TIMESTAMP)
    }

    /// Clock status. State of the built-in clock at the moment of reading.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn clock_status(&mut self) -> Result<ClockStatus, B::Error> {
        self.bus.read(offset::CLOCK_STATUS).map(ClockStatus)
    }

    /// Clock synchronised. 1: software keeps the built-in clock synchronised to its reference.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn clock_synchronised(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::CLOCK_SYNCHRONISED)
    }

    /// Writes `clock_synchronised`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_clock_synchronised(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::CLOCK_SYNCHRONISED, value)
    }

    /// Clock period. Nominal length of a cycle in 2^-32 ns. Each word takes effect when it is written: set the period before the time.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn clock_period(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::CLOCK_PERIOD)
    }

    /// Writes `clock_period`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_clock_period(&mut self, value: u64) -> Result<(), B::Error> {
        self.write_long(offset::CLOCK_PERIOD, value)
    }

    /// Clock rate. Added to the period, in 2^-32 ns, two's complement.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn clock_rate(&mut self) -> Result<i32, B::Error> {
        self.bus.read(offset::CLOCK_RATE).map(u32::cast_signed)
    }

    /// Writes `clock_rate`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_clock_rate(&mut self, value: i32) -> Result<(), B::Error> {
        self.bus.write(offset::CLOCK_RATE, value.cast_unsigned())
    }

    /// Clock offset. The amount that `clock_command.slew` adds to the time, in 2^-16 ns, two's complement.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn clock_offset(&mut self) -> Result<i32, B::Error> {
        self.bus.read(offset::CLOCK_OFFSET).map(u32::cast_signed)
    }

    /// Writes `clock_offset`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_clock_offset(&mut self, value: i32) -> Result<(), B::Error> {
        self.bus.write(offset::CLOCK_OFFSET, value.cast_unsigned())
    }

    /// Clock value. The value for `clock_command.set` and `clock_command.step`, PTP relative-64.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn clock_value(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::CLOCK_VALUE)
    }

    /// Writes `clock_value`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_clock_value(&mut self, value: u64) -> Result<(), B::Error> {
        self.write_long(offset::CLOCK_VALUE, value)
    }

    /// Writes `clock_command`: Clock command. Commands to the built-in clock. `set` wins over `step`, and both over `slew`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_clock_command(&mut self, value: ClockCommand) -> Result<(), B::Error> {
        self.bus.write(offset::CLOCK_COMMAND, value.0)
    }

    /// Next prefix lengths. Lengths for `prefixes_schedule`, as in control frames: one byte for each bank, the first bank in bits 63:56, 255 where there is no bank.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn prefixes_next(&mut self) -> Result<u64, B::Error> {
        self.read_long(offset::PREFIXES_NEXT)
    }

    /// Writes `prefixes_next`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_prefixes_next(&mut self, value: u64) -> Result<(), B::Error> {
        self.write_long(offset::PREFIXES_NEXT, value)
    }

    /// First interval of the next prefix lengths. For `prefixes_schedule`: the lengths apply from the first interval whose number is this or later, modulo 2^32.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn prefixes_from(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::PREFIXES_FROM)
    }

    /// Writes `prefixes_from`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_prefixes_from(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::PREFIXES_FROM, value)
    }

    /// Schedule prefix lengths. Write 1 to schedule `prefixes_next` from interval `prefixes_from` on, replacing a schedule that is still waiting. Refused unless there is one length for each bank, 0 to 16, ascending.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn prefixes_schedule(&mut self) -> Result<(), B::Error> {
        self.bus.write(offset::PREFIXES_SCHEDULE, 1)
    }

    /// Point identifier. Identifier of the measurement point in its control frames, by which hosts know it among others; 0 if it has none. It takes effect when it is written: set it before the first interval ends.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn point_id(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::POINT_ID)
    }

    /// Writes `point_id`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_point_id(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::POINT_ID, value)
    }

    /// Boot epoch. Starts of the point, or the time of its start in seconds: a number that rises with each start, in its control frames and in the nonces of their tags. Taken at each interval's end: set it before the first.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn boot_epoch(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::BOOT_EPOCH)
    }

    /// Writes `boot_epoch`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_boot_epoch(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::BOOT_EPOCH, value)
    }

    /// Writes `key_low`: Key, first half. Bytes 0 to 7 of the key for `key_schedule`, byte 0 in bits 7:0. Writes are refused while a key is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_key_low(&mut self, value: u64) -> Result<(), B::Error> {
        self.write_long(offset::KEY_LOW, value)
    }

    /// Writes `key_high`: Key, second half. Bytes 8 to 15 of the key for `key_schedule`, byte 8 in bits 7:0. Writes are refused while a key is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_key_high(&mut self, value: u64) -> Result<(), B::Error> {
        self.write_long(offset::KEY_HIGH, value)
    }

    /// Key identifier. Identifier of the key for `key_schedule`, which control frames name; 0 for no key. Writes are refused while a key is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn key_id(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::KEY_ID)
    }

    /// Writes `key_id`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_key_id(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::KEY_ID, value)
    }

    /// First interval of the next key. For `key_schedule`: the key applies from the interval end behind which the number of the running interval is this or a later one, modulo 2^32. May change while a key is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn key_from(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::KEY_FROM)
    }

    /// Writes `key_from`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_key_from(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::KEY_FROM, value)
    }

    /// Schedule key. Write 1 to schedule the key in `key_low`, `key_high` and `key_id`. At the interval end that `key_from` says it takes effect: the control frames of the interval that ends there have it already, all of them.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn key_schedule(&mut self) -> Result<(), B::Error> {
        self.bus.write(offset::KEY_SCHEDULE, 1)
    }

    /// Least interval. Clock cycles from an interval's end to the next, at least: an end of any kind that comes sooner is refused, and counted in `refused_ends`; in line, no delimiter is inserted sooner. Taken when an interval ends; 0 for none.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn least_interval(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::LEAST_INTERVAL)
    }

    /// Writes `least_interval`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_least_interval(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::LEAST_INTERVAL, value)
    }

    /// Writes `mixing_matrix`: Mixing, matrix. For `mixing_schedule`: the bits of the matrix, of which row r is made of bits r+31:r. Writes are refused while a mixing is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_mixing_matrix(&mut self, value: u64) -> Result<(), B::Error> {
        self.write_long(offset::MIXING_MATRIX, value)
    }

    /// Writes `mixing_offset`: Mixing, offset. For `mixing_schedule`: what is added to each product, modulo 2. Writes are refused while a mixing is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_mixing_offset(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::MIXING_OFFSET, value)
    }

    /// Mixing identifier. For `mixing_schedule`: what control frames say of it, so that both ends are known to have the same; 0 for the design's own mixing, whatever the other registers hold. Writes are refused while a mixing is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn mixing_id(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::MIXING_ID)
    }

    /// Writes `mixing_id`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_mixing_id(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::MIXING_ID, value)
    }

    /// First interval of the next mixing. For `mixing_schedule`: the mixing applies from the first interval whose number is this or later, modulo 2^32. May change while a mixing is waiting.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn mixing_from(&mut self) -> Result<u32, B::Error> {
        self.bus.read(offset::MIXING_FROM)
    }

    /// Writes `mixing_from`.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn write_mixing_from(&mut self, value: u32) -> Result<(), B::Error> {
        self.bus.write(offset::MIXING_FROM, value)
    }

    /// Schedule mixing. Write 1 to schedule the mixing in `mixing_matrix`, `mixing_offset` and `mixing_id` from interval `mixing_from` on.
    ///
    /// # Errors
    ///
    /// What the bus says.
    pub fn mixing_schedule(&mut self) -> Result<(), B::Error> {
        self.bus.write(offset::MIXING_SCHEDULE, 1)
    }
}
