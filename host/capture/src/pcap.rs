//! The pcap format: a 24-byte header, then records of a 16-byte header and the packet
//! (draft-ietf-opsawg-pcap; <https://www.tcpdump.org/manpages/pcap-savefile.5.html>).

use crate::error::Fault;
use crate::input::Input;
use crate::link::Link;
use crate::packet::{MAX_CAPTURED, Record};
use pcap_parser::nom::{Err, Needed};
use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

const HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;

/// The magic numbers of microsecond and nanosecond files in both byte orders, as the file's first bytes.
pub(crate) const MAGICS: [[u8; 4]; 4] =
    [[0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4], [0x4d, 0x3c, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d]];

/// What the file's header says about its records.
pub(crate) struct Pcap {
    big_endian: bool,
    nanoseconds: bool,
    link: Link,
}

impl Pcap {
    /// Reads the file's header, whose magic number is one of [`MAGICS`].
    pub(crate) fn new(input: &mut Input) -> Result<Self, Fault> {
        if !input.fill(HEADER_BYTES)? {
            return Err(Fault::Truncated);
        }
        let header = match parse_pcap_header(input.available()) {
            Ok((_, header)) => header,
            Err(_) => return Err(Fault::Damaged("its header cannot be read".into())),
        };
        if header.version_major != 2 {
            let version = format!("{}.{}", header.version_major, header.version_minor);
            return Err(Fault::Unsupported(format!("its format is pcap {version}, only 2.x is read")));
        }
        // The upper bits of the field hold the length of the frame check sequence.
        let link = Link::of(header.network.0 as u16)?;
        input.consume(HEADER_BYTES);
        Ok(Pcap { big_endian: header.is_bigendian(), nanoseconds: header.is_nanosecond_precision(), link })
    }

    pub(crate) fn next(&self, input: &mut Input) -> Result<Option<Record>, Fault> {
        if !input.fill(1)? {
            return Ok(None);
        }
        let parse = if self.big_endian { parse_pcap_frame_be } else { parse_pcap_frame };
        let too_long = || Fault::Damaged(format!("a packet has more than {MAX_CAPTURED} captured bytes"));
        loop {
            let available = input.available();
            let wanted = match parse(available) {
                Ok((_, frame)) => {
                    if frame.caplen > MAX_CAPTURED {
                        return Err(too_long());
                    }
                    let timestamp = self.timestamp(frame.ts_sec, frame.ts_usec)?;
                    let length = frame.origlen.max(frame.caplen);
                    let mut data = input.consume(RECORD_HEADER_BYTES + frame.data.len());
                    data.start += RECORD_HEADER_BYTES;
                    return Ok(Some(Record {
                        timestamp,
                        length,
                        interface: 0,
                        data,
                        link: self.link,
                        direction: None,
                    }));
                }
                Err(Err::Incomplete(Needed::Size(missing))) => available.len() + missing.get(),
                Err(_) => return Err(Fault::Damaged("a record's header cannot be read".into())),
            };
            if wanted > RECORD_HEADER_BYTES + MAX_CAPTURED as usize {
                return Err(too_long());
            }
            if !input.fill(wanted)? {
                return Err(Fault::Truncated);
            }
        }
    }

    fn timestamp(&self, seconds: u32, fraction: u32) -> Result<u64, Fault> {
        let (unit, units_per_second) = if self.nanoseconds { (1, 1_000_000_000) } else { (1000, 1_000_000) };
        if fraction >= units_per_second {
            let unit = if self.nanoseconds { "nanoseconds" } else { "microseconds" };
            return Err(Fault::Timestamp(format!("{fraction} {unit} within second {seconds}")));
        }
        Ok(u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * unit)
    }
}
