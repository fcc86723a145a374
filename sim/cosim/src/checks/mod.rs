//! The twin rule, stage by stage: the same stimulus through the Verilog and the model, every bit compared.
//!
//! Each check takes Verilog text, so that the same check runs on the emitted design and on its mutations.
//!
//! # Test plan
//!
//! All checks that take frames have those of `adversary` among their directed ones: runts, frames of up to 16,000
//! bytes, last beats of every length, EtherTypes with one bit changed, extension headers of up to 2,048 bytes, lengths above
//! 65,535. The cores get them with sums beyond a counter's lower half, a clock that runs and ends nothing, ends and delimiters in
//! successive cycles, and a reset behind any beat.
//!
//! | check | random | directed |
//! |-------|--------|----------|
//! | [`identity`] | frames of every encapsulation, sound and broken, with gaps and stalls | one-beat frames back to back; 64-byte frames back to back; every stack of tags with every header length and kind of extension header, cut at every byte; every protocol, wherever one is named |
//! | [`hash`] | keys, one a cycle, H3 and Rabin | every single key bit; keys that count |
//! | [`place`] | keys, one a cycle, H3 and Rabin | every single key bit; keys that count |
//! | [`classifier`] | keys of random words, of which some match | every bit of every word changed in a key that matches an entry |
//! | [`digest`] | keys, one a cycle | every single key bit; keys that count |
//! | [`sampler`] | places | every number of leading zeros, every row bit |
//! | [`lda`] | updates on few and on many words, both copies, drains under way | one word only; the same word at distances 1..=8; copy change between neighbours; count carries at 2^16 and 2^32; sum carries at 2^20 and 2^40; with digests their sums, all ones plus one in either half |
//! | [`identity_table`] | packets of few flows and of many, sampled and not, both copies, drains under way | every single key bit; the same packet at distances 1..=8; copy change between neighbours; counts that wrap |
//! | [`adaptive`] | traffic, interval ends, delimiters whose numbers jump and wrap, schedules of every kind, of mixings too, at any time | all prefix lengths after reset, legal and illegal; boundaries at every beat of two frames without a gap, schedules at every cycle around them |
//! | [`lanes`] | frames on both lanes in the same cycles, with gaps and without, interval ends anywhere | frames of one beat on every lane in every cycle; delimiters on either lane |
//! | [`frame_count`] | frames and interval ends | the carry between the halves and saturation, preloaded |
//! | [`registers`] | accesses with pauses on every channel, resets, signals that change in every cycle | every address, every bit and restricted value of every register, all byte strobes; snapshots as a host takes them |
//! | [`clock`] | times of day, one a cycle, and beats with gaps and stalls; rates, slews, steps and sets, all also against arithmetic in 128 bits | every bit of a time of day; clocks over full seconds and over the wrap; every carry and extreme of the adjustable clock; two commands at every distance; whole slews; reset under way |
//! | [`authentication`] | keys, nonces and data of 1..=40 words, with pauses, starts at any moment and resets | known answers of the reference; the latencies |
//! | [`delimiter_tags`] | numbers, epochs and keys that change at any moment, resets | the latency; the first tag while others change all the time |
//! | [`byte_tags`] | the byte core's: the same, and what of the frames that pass is signed, also while a tag changes amid a frame | every single bit that is compared; the latency, also of the first while the second changes all the time |
//! | [`forgery`] | whole designs with a key: delimiters forged, altered, replayed, early and late among genuine ones, storms, lost ones, restarts, keys that change | every single bit of identifier and tag |
//! | [`inline`] | traffic of every length, pauses, back-pressure, cuts, control frames | traffic alone, of every length; cuts at every beat of two frames; single pauses; the stated stall, exactly, with the longest control frames and traffic without a pause |
//! | [`shell`] | whole designs through s_axil, s_axis and m_axis: traffic, interval ends by register, port and delimiter, snapshots; a sender in the stream, under back-pressure, followed by a receiver | an illegal write |
//! | [`core`] | traffic, interval ends, back-pressure on m_axis, bad frames, clock lost | 64-byte frames back to back without a lost update; packets that differ in a counter alone, whose rows' counts are those of random ones; ends by delimiter and by clock at every beat of two frames; every kind of delimiter, in cores of more than 512 cells in one role with one copy but for `cargo xtask cosim`; ends around the end of a drain; refused ends; lock lost around an end; the clock's seconds at an end, and others during its drain; every counter's and sum's carry and saturation, preloaded; reset in the middle of a frame whose rest follows; frames while clearing; the rules of m_axis in every cycle; with classes: packets of any class and of none |
//! | [`byte`] | traffic, interval ends, back-pressure on m_axis, bad frames | packets that differ in a counter alone; shortest packets, 64-byte and 1-byte frames back to back with an end refused every cycle; frames cut at every byte, headers up to the window's end; ends by delimiter and by clock at every byte of six frames; delimiters with each byte wrong, cut short, refused, in both roles with both copies where there are at most 16 cells; ends around the end of a drain, whose length is bounded; lock lost around an end; every counter's carry and saturation, preloaded; reset in the middle of a frame whose rest follows; frames while clearing; the rules of m_axis in every cycle; 50 planted faults |
//! | [`signed_byte`] | traffic, keys and epochs scheduled at any time for intervals behind, near and half the numbers away, back-pressure | every address; every byte strobe; writes while the key is copied; the length of a drain; resets within it |
//! | [`slices`] | packets that start slices and packets that do not, one a cycle and with pauses, drains meanwhile | copies without a packet, slices of one packet to twelve, neighbours in different copies, drains at once, forwards and backwards, twice; counts that wrap |
//! | [`succession`] | the byte core's alone: delimiters as near to each other as can be, requests around them, ends that cannot be, resets | numbers and epochs that differ in a byte, a bit or a carry |

pub mod adaptive;
pub mod authentication;
pub mod byte;
pub mod byte_tags;
pub mod classifier;
pub mod clock;
pub mod core;
pub mod delimiter_tags;
pub mod digest;
pub mod forgery;
pub mod frame_count;
pub mod hash;
pub mod identity;
pub mod identity_table;
pub mod inline;
pub mod lanes;
pub mod lda;
mod pair;
pub mod place;
mod point;
pub mod reference;
pub mod registers;
pub mod sampler;
pub mod shell;
pub mod signed_byte;
pub mod slices;
pub mod succession;
