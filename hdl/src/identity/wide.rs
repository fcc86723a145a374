//! Wide identity: the identity stage for beats of 256 or 512 bits.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::packet::identity`, where the key and its masks are defined. As in the narrow stages, headers
//! are aligned to 32-bit words that start two bytes into the frame; a beat brings N = 8 or 16 of them. Twice the
//! words of two neighbouring beats are laid side by side and shifted: first so that the IP header starts a group of N
//! words, then so that the payload does.
//!
//! ```text
//! s_axis -> beat -> former, tags -> shift -> group -> links -> walk -> former group -> shift -> key, commit
//!            1         2                      3                 4              5                   6
//! ```
//!
//! * A beat waits in `former` for the one behind it, or for none if it is the frame's last; then its *slot* comes:
//!   the words of both. In a frame's first slot all its tags are there, because at most 34 bytes lie before the
//!   IP header; they say by how many words to shift.
//! * Shifted, the words of a slot are a *group*: group g holds the words N·g .. N·g+N-1 of the IP packet. A shift by
//!   more than N words takes them from one slot later.
//! * The walk over extension headers passes a whole group at once. What can be known of each pair before the walk is
//!   worked out a cycle ahead: if a header started there, would it be the last of the chain or the group, and else, at
//!   which pair would the next one start, and of which class? This is the pair's *link*, for each class with a length.
//!   The walk itself then takes two or three gates a pair. It starts from a position that is counted relative to the
//!   group's start; the position behind the last pair goes to the next group.
//! * With a header's class goes what the protocol it names says of the payload's [checksum](crate::identity::checksum).
//! * A group waits for the one behind it likewise; if the payload starts in it, seven words from there are the key's.
//!
//! A slot behind a frame's last beat is not needed, so frames of one beat may follow each other without pause.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | running | in | 1 | the core counts; a frame whose first beat comes before is dropped to its end |
//! | tdata, tkeep, tvalid, tready, tlast, tuser | in | B, K, 1, 1, 1, 65 | the observed stream |
//! | commit | out | 1 | a frame has ended, six cycles after its last beat was accepted |
//! | measured | out | 1 | with commit: it is measured, and key, time and ip_length are its own |
//! | bad | out | 1 | with commit: the MAC marked it bad |
//! | key | out | 544 | with commit: the key, word i in bits 32i+31:32i |
//! | timestamp | out | 64 | with commit: timestamp of the first beat |
//! | ip_length | out | 17 | with commit: IP octets |
//! | delimiter | out | 1 | three cycles ahead of commit: it is a delimiter of this measurement |
//! | delimiter_number, delimiter_epoch | out | 32 | with delimiter: the number of the interval that it ends, and its boot epoch |
//!
//! Latency six cycles behind the last beat; one beat a cycle, frames of any length back to back, so one frame a
//! cycle if they are that short. Parameters: N words and P = N / 2 pairs of words a beat, B = 32 N bits, K = B / 8
//! bytes, W = 2 B bits; the configuration's delimiter.
//!
//! # Test plan
//!
//! `sim/cosim`, for both widths: the narrow stage's stimuli, with frames of one beat back to back, gaps and stalls,
//! every key bit compared with `deltaline_model::packet::identity::identify`; delimiters.

use crate::identity::checksum::Checksum;
use crate::identity::datagram::NextHeaderClass;
use crate::identity::header_window::WordTag;
use crate::interval::delimiter_match::Pattern;
use crate::leaves::{BeatWords, Flop, KeyVector};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::wire::delimiter;
use rust_hdl_core::prelude::*;

const _: () = assert!(WINDOW_BYTES == 126);

/// Beats of 256 bits.
pub type Identity256 = WideIdentity<8, 4, 256, 32, 512, 16>;
/// Beats of 512 bits.
pub type Identity512 = WideIdentity<16, 8, 512, 64, 1024, 32>;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct WideIdentity<
    const N: usize,
    const P: usize,
    const B: usize,
    const K: usize,
    const W: usize,
    const V: usize,
> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub tdata: Signal<In, Bits<B>>,
    pub tkeep: Signal<In, Bits<K>>,
    pub tvalid: Signal<In, Bit>,
    pub tready: Signal<In, Bit>,
    pub tlast: Signal<In, Bit>,
    pub tuser: Signal<In, Bits<65>>,
    pub commit: Signal<Out, Bit>,
    pub measured: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub key: Signal<Out, Bits<544>>,
    pub timestamp: Signal<Out, Bits<64>>,
    pub ip_length: Signal<Out, Bits<17>>,
    pub delimiter: Signal<Out, Bit>,
    pub delimiter_number: Signal<Out, Bits<32>>,
    pub delimiter_epoch: Signal<Out, Bits<32>>,

    cutter: BeatWords<N, B, K>,
    /// A beat has come since reset.
    beat_seen: Flop<Bit>,
    /// Where the stream's frames start is not known until the next tlast.
    adrift: Flop<Bit>,
    in_frame: Flop<Bit>,
    /// Beats of the frame so far, up to the window's.
    count: Flop<Bits<3>>,
    first_time: Flop<Bits<64>>,
    /// Cycle 1: the beat.
    beat_words: Flop<Bits<B>>,
    beat_whole: Flop<Bits<N>>,
    beat_tail: Flop<Bits<16>>,
    beat_valid: Flop<Bit>,
    beat_last: Flop<Bit>,
    beat_full: Flop<Bit>,
    beat_bad: Flop<Bit>,
    beat_index: Flop<Bits<3>>,
    /// Cycle 2: the beat before, waiting for the one behind it.
    former_valid: Flop<Bit>,
    former_words: Flop<Bits<B>>,
    former_whole: Flop<Bits<N>>,
    former_tail: Flop<Bits<16>>,
    former_last: Flop<Bit>,
    former_full: Flop<Bit>,
    former_bad: Flop<Bit>,
    former_index: Flop<Bits<3>>,
    former_time: Flop<Bits<64>>,
    /// What the frame's first slot has said.
    start_kept: Flop<Bits<4>>,
    found_kept: Flop<Bit>,
    network_kept: Flop<Bits<2>>,
    delimiter_kept: Flop<Bit>,
    number: Flop<Bits<32>>,
    group_number: Flop<Bits<32>>,
    epoch: Flop<Bits<32>>,
    group_epoch: Flop<Bits<32>>,
    number_now: Signal<Local, Bits<32>>,
    /// Cycle 3: the group, or only the end of a frame.
    group_event: Flop<Bit>,
    group_there: Flop<Bit>,
    group_words: Flop<Bits<B>>,
    group_whole: Flop<Bits<N>>,
    group_index: Flop<Bits<3>>,
    group_closes: Flop<Bit>,
    group_bad: Flop<Bit>,
    group_network: Flop<Bits<2>>,
    group_delimiter: Flop<Bit>,
    group_time: Flop<Bits<64>>,
    /// Cycle 4: the group, and what the walk has to know of it.
    walk_event: Flop<Bit>,
    walk_there: Flop<Bit>,
    walk_first: Flop<Bit>,
    walk_words: Flop<Bits<B>>,
    walk_whole: Flop<Bits<N>>,
    walk_index: Flop<Bits<3>>,
    walk_closes: Flop<Bit>,
    walk_bad: Flop<Bit>,
    walk_time: Flop<Bits<64>>,
    opens4: Flop<Bit>,
    opens6: Flop<Bit>,
    /// Where the fixed header ends, and the class of the header that IPv6's names.
    opening_position: Flop<Bits<6>>,
    opening_class: Flop<Bits<2>>,
    /// Class of the header that a header in this pair would name.
    class_of: [Flop<Bits<2>>; P],
    /// What the protocol says that the fixed header names, and that a header in this pair would name.
    opening_checksum: Flop<Bits<2>>,
    checksum_of: [Flop<Bits<2>>; P],
    /// Where the header behind one of class 1 or 2 in this pair would start: one-hot among the group's pairs.
    link_1: [Flop<Bits<P>>; P],
    link_2: [Flop<Bits<P>>; P],
    /// The chain or the group ends with a header of this class in this pair.
    stop_1: [Flop<Bit>; P],
    stop_2: [Flop<Bit>; P],
    /// It would reach behind the window, or its first word is not there.
    lost_1: [Flop<Bit>; P],
    lost_2: [Flop<Bit>; P],
    /// The walk: the frame's IP header has been found.
    active: Flop<Bit>,
    six: Flop<Bit>,
    complete: Flop<Bit>,
    /// Words from the group's start to the next header or the payload; 63: none; modulo 64 behind the payload's start.
    position: Flop<Bits<6>>,
    /// What the protocol says that the last header passed names.
    summed: Flop<Bits<2>>,
    /// Class of the header there; 0: payload.
    chain: Flop<Bits<2>>,
    length: Flop<Bits<16>>,
    /// Cycle 5: the group before, waiting for the one behind it.
    old_valid: Flop<Bit>,
    old_there: Flop<Bit>,
    old_words: Flop<Bits<B>>,
    old_index: Flop<Bits<3>>,
    old_closes: Flop<Bit>,
    old_bad: Flop<Bit>,
    old_measured: Flop<Bit>,
    old_hit: Flop<Bit>,
    old_offset: Flop<Bits<4>>,
    old_checksum: Flop<Bits<2>>,
    old_time: Flop<Bits<64>>,
    /// Cycle 6.
    committed: Flop<Bit>,
    commit_measured: Flop<Bit>,
    commit_bad: Flop<Bit>,
    commit_time: Flop<Bits<64>>,
    commit_length: Flop<Bits<17>>,

    transfer: Signal<Local, Bit>,
    is_adrift: Signal<Local, Bit>,
    fire: Signal<Local, Bit>,
    in_window: Signal<Local, Bit>,
    more_in_window: Signal<Local, Bit>,
    index_now: Signal<Local, Bits<3>>,
    slot: Signal<Local, Bit>,
    latter_words: Signal<Local, Bits<B>>,
    latter_whole: Signal<Local, Bits<N>>,
    window: Signal<Local, Bits<W>>,
    whole_window: Signal<Local, Bits<V>>,
    first_slot: Signal<Local, Bit>,
    vlan: Signal<Local, Bit>,
    double_vlan: Signal<Local, Bit>,
    start_seen: Signal<Local, Bits<4>>,
    found_seen: Signal<Local, Bit>,
    network_seen: Signal<Local, Bits<2>>,
    delimiter_seen: Signal<Local, Bit>,
    start_now: Signal<Local, Bits<4>>,
    found_now: Signal<Local, Bit>,
    network_now: Signal<Local, Bits<2>>,
    is_long: Signal<Local, Bit>,
    epoch_now: Signal<Local, Bits<32>>,
    delimiter_now: Signal<Local, Bit>,
    late: Signal<Local, Bit>,
    rotate: Signal<Local, Bits<4>>,
    shift: Signal<Local, Bits<10>>,
    shifted: Signal<Local, Bits<W>>,
    whole_shifted: Signal<Local, Bits<V>>,
    there: Signal<Local, Bit>,
    is_first: Signal<Local, Bit>,
    is_opening6: Signal<Local, Bit>,
    first_protocol: Signal<Local, Bits<8>>,
    extra_1: [Signal<Local, Bits<8>>; P],
    extra_2: [Signal<Local, Bits<8>>; P],
    next_1: [Signal<Local, Bits<P>>; P],
    next_2: [Signal<Local, Bits<P>>; P],
    is_lost_1: [Signal<Local, Bit>; P],
    is_lost_2: [Signal<Local, Bit>; P],
    is_active: Signal<Local, Bit>,
    is_six: Signal<Local, Bit>,
    version: Signal<Local, Bits<4>>,
    header_words: Signal<Local, Bits<4>>,
    position_now: Signal<Local, Bits<6>>,
    chain_now: Signal<Local, Bits<2>>,
    summed_now: Signal<Local, Bits<2>>,
    /// Pair where the walk enters the group; pairs that it has reached, by the class of the header there.
    entry: Signal<Local, Bits<P>>,
    reach_1: Signal<Local, Bits<P>>,
    reach_2: Signal<Local, Bits<P>>,
    reach_3: Signal<Local, Bits<P>>,
    jump: Signal<Local, Bits<P>>,
    low_extra: Signal<Local, Bits<4>>,
    step_1: [Signal<Local, Bits<6>>; P],
    step_2: [Signal<Local, Bits<6>>; P],
    hit: Signal<Local, Bit>,
    is_complete: Signal<Local, Bit>,
    old_slot: Signal<Local, Bit>,
    behind_words: Signal<Local, Bits<B>>,
    old_window: Signal<Local, Bits<W>>,
    offset_shift: Signal<Local, Bits<10>>,
    payload: Signal<Local, Bits<W>>,
    base: Signal<Local, Bits<6>>,
    taken: Signal<Local, Bits<6>>,
    left: Signal<Local, Bits<17>>,
    payload_bytes: Signal<Local, Bits<5>>,
    absent: Signal<Local, Bits<28>>,

    /// What the words behind the MAC addresses say as tags, from the one with the first EtherType on.
    tag: [WordTag; 7],
    first_class: NextHeaderClass,
    pair_class: [NextHeaderClass; P],
    first_checksum: Checksum,
    pair_checksum: [Checksum; P],
    key_word: [Flop<Bits<32>>; 17],
    vector: KeyVector,
    mask: [Signal<Local, Bits<32>>; 7],

    ethertype: Constant<Bits<16>>,
    kind_and_segment: Constant<Bits<32>>,
    segment_low: Constant<Bits<16>>,
    digest_high: Constant<Bits<16>>,
    digest_middle: Constant<Bits<32>>,
    digest_low: Constant<Bits<16>>,
    /// Beats that the window spans.
    /// The beat that brings a delimiter's last byte.
    delimiter_end: Constant<Bits<3>>,
    window_beats: Constant<Bits<3>>,
    /// Its last beat but none: index of the last beat in the window.
    last_beat: Constant<Bits<3>>,
    beat_bits: Constant<Bits<10>>,
    beat_words_count: Constant<Bits<6>>,
    longest_shift: Constant<Bits<4>>,
    /// Ones in the bits of a word's index within a group.
    group_mask: Constant<Bits<4>>,
    /// The same of a longer index, complemented.
    beyond: Constant<Bits<6>>,
    /// Which group holds word 9, the last of the IPv6 header, and where.
    ipv6_end_group: Constant<Bits<3>>,
    ipv6_end: Constant<Bits<N>>,
    first_pair: Constant<Bits<P>>,
    pair_behind: [Constant<Bits<P>>; P],
    pair_end: [Constant<Bits<6>>; P],
    all_bytes: Constant<Bits<28>>,
}

impl<const N: usize, const P: usize, const B: usize, const K: usize, const W: usize, const V: usize>
    WideIdentity<N, P, B, K, W, V>
{
    /// The identity stage; of the configuration, only what its delimiters look like matters.
    pub fn new(configuration: &Configuration) -> Self {
        let pattern = Pattern::of(configuration);
        let words = N as u64;
        module! { WideIdentity {
            pair_class: std::array::from_fn(|_| NextHeaderClass::default()),
            pair_checksum: std::array::from_fn(|_| Checksum::default()),
            ethertype: Constant::new(pattern.ethertype.into()),
            kind_and_segment: Constant::new(pattern.kind_and_segment.into()),
            segment_low: Constant::new(pattern.segment_low.into()),
            digest_high: Constant::new(pattern.digest_high.into()),
            digest_middle: Constant::new(pattern.digest_middle.into()),
            digest_low: Constant::new(pattern.digest_low.into()),
            delimiter_end: Constant::new((delimiter::BYTES as u64 / (4 * words) - 1).into()),
            window_beats: Constant::new((32 / words).into()),
            last_beat: Constant::new((32 / words - 1).into()),
            beat_bits: Constant::new((B as u64).into()),
            beat_words_count: Constant::new(words.into()),
            longest_shift: Constant::new(words.min(15).into()),
            group_mask: Constant::new((words - 1).into()),
            beyond: Constant::new((!(words - 1) & 63).into()),
            ipv6_end_group: Constant::new((9 / words).into()),
            ipv6_end: Constant::new((1u64 << (9 % words)).into()),
            first_pair: Constant::new(1u64.into()),
            pair_behind: std::array::from_fn(|pair| {
                Constant::new((if pair + 1 < P { 2u64 << pair } else { 0 }).into())
            }),
            pair_end: std::array::from_fn(|pair| Constant::new((2 * pair as u64 + 2).into())),
            all_bytes: Constant::new(0xfff_ffff_u64.into()),
        }
            clk rst running tdata tkeep tvalid tready tlast tuser commit measured bad key timestamp ip_length
            delimiter delimiter_number delimiter_epoch cutter beat_seen adrift in_frame count first_time beat_words beat_whole
            beat_tail beat_valid beat_last beat_full beat_bad beat_index former_valid former_words former_whole
            former_tail former_last former_full former_bad former_index former_time start_kept found_kept network_kept
            delimiter_kept number group_number epoch group_epoch number_now epoch_now is_long group_event
            group_there group_words group_whole group_index group_closes group_bad group_network
            group_delimiter group_time walk_event walk_there walk_first walk_words walk_whole walk_index
            walk_closes walk_bad walk_time opens4 opens6 opening_position opening_class
            opening_checksum active six complete position summed chain length old_valid old_there old_words old_index old_closes old_bad
            old_measured old_hit old_offset old_checksum old_time committed commit_measured commit_bad
            commit_time commit_length transfer is_adrift fire in_window more_in_window
            index_now slot latter_words latter_whole window whole_window first_slot vlan double_vlan
            start_seen found_seen network_seen delimiter_seen start_now found_now network_now delimiter_now
            late rotate shift shifted whole_shifted there is_first is_opening6 is_active is_six version
            header_words position_now chain_now summed_now entry reach_1 reach_2 reach_3 jump low_extra hit is_complete
            old_slot behind_words old_window offset_shift payload base taken left payload_bytes absent tag
            first_class first_checksum first_protocol key_word vector mask
            ; each class_of checksum_of link_1 link_2 stop_1 stop_2 lost_1 lost_2 extra_1 extra_2 next_1 next_2 is_lost_1
            is_lost_2 step_1 step_2
        }
    }
}

impl<const N: usize, const P: usize, const B: usize, const K: usize, const W: usize, const V: usize> Logic
    for WideIdentity<N, P, B, K, W, V>
{
    #[clocked(
        beat_seen,
        adrift,
        in_frame,
        count,
        first_time,
        beat_words,
        beat_whole,
        beat_tail,
        beat_valid,
        beat_last,
        beat_full,
        beat_bad,
        beat_index,
        former_valid,
        former_words,
        former_whole,
        former_tail,
        former_last,
        former_full,
        former_bad,
        former_index,
        former_time,
        start_kept,
        found_kept,
        network_kept,
        delimiter_kept,
        number,
        group_number,
        epoch,
        group_epoch,
        group_event,
        group_there,
        group_words,
        group_whole,
        group_index,
        group_closes,
        group_bad,
        group_network,
        group_delimiter,
        group_time,
        walk_event,
        walk_there,
        walk_first,
        walk_words,
        walk_whole,
        walk_index,
        walk_closes,
        walk_bad,
        walk_time,
        opens4,
        opens6,
        opening_position,
        opening_class,
        opening_checksum,
        active,
        six,
        complete,
        position,
        summed,
        chain,
        length,
        old_valid,
        old_there,
        old_words,
        old_index,
        old_closes,
        old_bad,
        old_measured,
        old_hit,
        old_offset,
        old_checksum,
        old_time,
        committed,
        commit_measured,
        commit_bad,
        commit_time,
        commit_length
    )]
    fn update(&mut self) {
        // Cycle 0: the beat, unless the frame began before the core counted; nothing from behind the window.
        self.transfer.next = self.tvalid.val() & self.tready.val();
        self.is_adrift.next = self.adrift.q.val() | (!self.beat_seen.q.val() & !self.running.val());
        if self.transfer.val() {
            self.beat_seen.d.next = true;
            self.adrift.d.next = self.is_adrift.val() & !self.tlast.val();
        }
        self.fire.next = self.transfer.val() & !self.is_adrift.val();
        self.index_now.next = 0.into();
        if self.in_frame.q.val() {
            self.index_now.next = self.count.q.val();
        }
        self.in_window.next = self.index_now.val() != self.window_beats.val();
        self.more_in_window.next = self.in_window.val() & (self.index_now.val() != self.last_beat.val());
        self.cutter.data.next = self.tdata.val();
        self.cutter.keep.next = self.tkeep.val();
        self.cutter.preceding.next = self.beat_tail.q.val();
        self.beat_valid.d.next = self.fire.val();
        if self.fire.val() {
            self.in_frame.d.next = !self.tlast.val();
            self.count.d.next = self.index_now.val();
            if self.in_window.val() {
                self.count.d.next = self.index_now.val() + 1;
            }
            if !self.in_frame.q.val() {
                self.first_time.d.next = self.tuser.val().get_bits::<64>(1);
            }
            self.beat_last.d.next = self.tlast.val();
            self.beat_full.d.next = self.tkeep.val().all();
            self.beat_bad.d.next = self.tuser.val().get_bit(0);
            self.beat_index.d.next = self.index_now.val();
            self.beat_words.d.next = 0.into();
            self.beat_whole.d.next = 0.into();
            self.beat_tail.d.next = 0.into();
            if self.in_window.val() {
                self.beat_words.d.next = self.cutter.words.val();
                self.beat_whole.d.next = self.cutter.whole.val();
            }
            if self.more_in_window.val() {
                self.beat_tail.d.next = self.cutter.behind.val();
            }
        }

        // Cycle 1: it becomes the former.
        self.slot.next = self.former_valid.q.val() & (self.former_last.q.val() | self.beat_valid.q.val());
        self.former_valid.d.next = self.beat_valid.q.val() | (self.former_valid.q.val() & !self.slot.val());
        if self.beat_valid.q.val() {
            self.former_words.d.next = self.beat_words.q.val();
            self.former_whole.d.next = self.beat_whole.q.val();
            self.former_tail.d.next = self.beat_tail.q.val();
            self.former_last.d.next = self.beat_last.q.val();
            self.former_full.d.next = self.beat_full.q.val();
            self.former_bad.d.next = self.beat_bad.q.val();
            self.former_index.d.next = self.beat_index.q.val();
            self.former_time.d.next = self.first_time.q.val();
        }

        // Cycle 2: the words of the former and of the beat behind it, which may lie in the next frame.
        self.latter_words.next = self.beat_words.q.val();
        self.latter_whole.next = self.beat_whole.q.val();
        if self.former_last.q.val() {
            self.latter_words.next = bit_cast::<B, 16>(self.former_tail.q.val()) << 16;
            self.latter_whole.next = 0.into();
        }
        self.window.next = bit_cast::<W, B>(self.former_words.q.val())
            | (bit_cast::<W, B>(self.latter_words.val()) << self.beat_bits.val());
        self.whole_window.next = bit_cast::<V, N>(self.former_whole.q.val())
            | (bit_cast::<V, N>(self.latter_whole.val()) << self.beat_words_count.val());

        // What the first slot says: where the IP header starts, counted in words from the slot's first. Word 3 ends
        // with the first EtherType.
        for i in 0..7 {
            self.tag[i].low_half.next = self.window.val().get_bits::<16>(i * 32 + 96);
            self.tag[i].whole.next = self.whole_window.val().get_bit(i + 3);
        }
        self.first_slot.next = self.former_index.q.val() == 0;
        self.vlan.next = self.tag[0].tag.val().get_bit(1);
        self.double_vlan.next = self.tag[0].tag.val().get_bit(1) & self.tag[1].tag.val().get_bit(1);
        self.start_seen.next = 0.into();
        self.found_seen.next = false;
        self.network_seen.next = 2.into();
        if self.double_vlan.val() {
            if self.tag[2].tag.val().get_bit(3) {
                self.start_seen.next = 6.into();
                self.found_seen.next = true;
                self.network_seen.next = 0.into();
            } else if self.tag[2].tag.val().get_bit(4) {
                self.start_seen.next = 6.into();
                self.found_seen.next = true;
                self.network_seen.next = 1.into();
            } else if self.tag[2].tag.val().get_bit(2) {
                self.found_seen.next = true;
                if self.tag[3].tag.val().get_bit(5) {
                    self.start_seen.next = 7.into();
                } else if self.tag[4].tag.val().get_bit(5) {
                    self.start_seen.next = 8.into();
                } else if self.tag[5].tag.val().get_bit(5) {
                    self.start_seen.next = 9.into();
                } else if self.tag[6].tag.val().get_bit(5) {
                    self.start_seen.next = 10.into();
                } else {
                    self.found_seen.next = false;
                }
            }
        } else if self.vlan.val() {
            if self.tag[1].tag.val().get_bit(3) {
                self.start_seen.next = 5.into();
                self.found_seen.next = true;
                self.network_seen.next = 0.into();
            } else if self.tag[1].tag.val().get_bit(4) {
                self.start_seen.next = 5.into();
                self.found_seen.next = true;
                self.network_seen.next = 1.into();
            } else if self.tag[1].tag.val().get_bit(2) {
                self.found_seen.next = true;
                if self.tag[2].tag.val().get_bit(5) {
                    self.start_seen.next = 6.into();
                } else if self.tag[3].tag.val().get_bit(5) {
                    self.start_seen.next = 7.into();
                } else if self.tag[4].tag.val().get_bit(5) {
                    self.start_seen.next = 8.into();
                } else if self.tag[5].tag.val().get_bit(5) {
                    self.start_seen.next = 9.into();
                } else {
                    self.found_seen.next = false;
                }
            }
        } else {
            if self.tag[0].tag.val().get_bit(3) {
                self.start_seen.next = 4.into();
                self.found_seen.next = true;
                self.network_seen.next = 0.into();
            } else if self.tag[0].tag.val().get_bit(4) {
                self.start_seen.next = 4.into();
                self.found_seen.next = true;
                self.network_seen.next = 1.into();
            } else if self.tag[0].tag.val().get_bit(2) {
                self.found_seen.next = true;
                if self.tag[1].tag.val().get_bit(5) {
                    self.start_seen.next = 5.into();
                } else if self.tag[2].tag.val().get_bit(5) {
                    self.start_seen.next = 6.into();
                } else if self.tag[3].tag.val().get_bit(5) {
                    self.start_seen.next = 7.into();
                } else if self.tag[4].tag.val().get_bit(5) {
                    self.start_seen.next = 8.into();
                } else {
                    self.found_seen.next = false;
                }
            }
        }
        self.delimiter_seen.next = (self.window.val().get_bits::<16>(96) == self.ethertype.val())
            & (self.window.val().get_bits::<32>(128) == self.kind_and_segment.val())
            & (self.window.val().get_bits::<16>(176) == self.segment_low.val())
            & (self.window.val().get_bits::<16>(192) == self.digest_high.val())
            & (self.window.val().get_bits::<32>(224) == self.digest_middle.val())
            & (self.window.val().get_bits::<16>(272) == self.digest_low.val());

        self.is_long.next = (self.former_index.q.val() > self.delimiter_end.val())
            | ((self.former_index.q.val() == self.delimiter_end.val()) & self.former_full.q.val());
        self.number_now.next = self.number.q.val();
        self.epoch_now.next = self.epoch.q.val();
        if self.first_slot.val() {
            self.number_now.next = (bit_cast::<32, 16>(self.window.val().get_bits::<16>(160)) << 16)
                | bit_cast::<32, 16>(self.window.val().get_bits::<16>(208));
            self.epoch_now.next = (bit_cast::<32, 16>(self.window.val().get_bits::<16>(256)) << 16)
                | bit_cast::<32, 16>(self.window.val().get_bits::<16>(304));
        }
        self.start_now.next = self.start_kept.q.val();
        self.found_now.next = self.found_kept.q.val();
        self.network_now.next = self.network_kept.q.val();
        self.delimiter_now.next = self.delimiter_kept.q.val();
        if self.first_slot.val() {
            self.start_now.next = self.start_seen.val();
            self.found_now.next = self.found_seen.val();
            self.network_now.next = self.network_seen.val();
            self.delimiter_now.next = self.delimiter_seen.val();
        }
        if self.slot.val() {
            self.start_kept.d.next = self.start_now.val();
            self.found_kept.d.next = self.found_now.val();
            self.network_kept.d.next = self.network_now.val();
            self.delimiter_kept.d.next = self.delimiter_now.val();
            self.number.d.next = self.number_now.val();
            self.epoch.d.next = self.epoch_now.val();
        }
        self.group_number.d.next = self.number_now.val();
        self.group_epoch.d.next = self.epoch_now.val();

        // The shift; one that is longer than a group takes a slot more instead.
        self.late.next = self.start_now.val() > self.longest_shift.val();
        self.rotate.next = self.start_now.val();
        if self.late.val() {
            self.rotate.next = self.start_now.val() & self.group_mask.val();
        }
        self.shift.next = bit_cast::<10, 4>(self.rotate.val()) << 5;
        self.shifted.next = self.window.val() >> self.shift.val();
        self.whole_shifted.next = self.whole_window.val() >> self.rotate.val();
        self.there.next = self.slot.val()
            & self.found_now.val()
            & !(self.late.val() & self.first_slot.val())
            & (self.former_index.q.val() != self.window_beats.val());
        self.group_event.d.next = self.there.val() | (self.slot.val() & self.former_last.q.val());
        self.group_there.d.next = self.there.val();
        self.group_words.d.next = self.shifted.val().get_bits::<B>(0);
        self.group_whole.d.next = self.whole_shifted.val().get_bits::<N>(0);
        self.group_index.d.next = self.former_index.q.val();
        if self.late.val() {
            self.group_index.d.next = self.former_index.q.val() - 1;
        }
        self.group_closes.d.next = self.slot.val() & self.former_last.q.val();
        self.group_bad.d.next = self.former_bad.q.val();
        self.group_network.d.next = self.network_now.val();
        self.group_delimiter.d.next = self.slot.val()
            & self.former_last.q.val()
            & !self.former_bad.q.val()
            & self.delimiter_now.val()
            & self.is_long.val();
        self.group_time.d.next = self.former_time.q.val();

        // Cycle 3: what the walk has to know of the group.
        self.walk_event.d.next = self.group_event.q.val();
        self.walk_there.d.next = self.group_there.q.val();
        self.walk_words.d.next = self.group_words.q.val();
        self.walk_whole.d.next = self.group_whole.q.val();
        self.walk_index.d.next = self.group_index.q.val();
        self.walk_closes.d.next = self.group_closes.q.val();
        self.walk_bad.d.next = self.group_bad.q.val();
        self.walk_time.d.next = self.group_time.q.val();
        self.is_first.next = self.group_there.q.val() & (self.group_index.q.val() == 0);
        self.walk_first.d.next = self.is_first.val();
        self.version.next = self.group_words.q.val().get_bits::<4>(28);
        self.header_words.next = self.group_words.q.val().get_bits::<4>(24);
        self.opens4.d.next = self.is_first.val()
            & self.group_whole.q.val().get_bit(0)
            & (self.version.val() == 4)
            & (self.header_words.val() >= 5)
            & (self.group_network.q.val() != 1);
        self.is_opening6.next = self.is_first.val()
            & self.group_whole.q.val().get_bit(0)
            & (self.version.val() == 6)
            & self.group_network.q.val().any();
        self.opens6.d.next = self.is_opening6.val();
        self.first_class.next_header.next = self.group_words.q.val().get_bits::<8>(40);
        self.opening_position.d.next = bit_cast::<6, 4>(self.header_words.val());
        self.opening_class.d.next = 0.into();
        self.first_protocol.next = self.group_words.q.val().get_bits::<8>(80);
        if self.is_opening6.val() {
            self.opening_position.d.next = 10.into();
            self.opening_class.d.next = self.first_class.class_code.val();
            self.first_protocol.next = self.group_words.q.val().get_bits::<8>(40);
        }
        self.first_checksum.protocol.next = self.first_protocol.val();
        self.opening_checksum.d.next = self.first_checksum.checksum.val();
        for i in 0..P {
            self.class_of[i].clock.next = self.clk.val();
            self.class_of[i].rst.next = self.rst.val();
            self.checksum_of[i].clock.next = self.clk.val();
            self.checksum_of[i].rst.next = self.rst.val();
            self.link_1[i].clock.next = self.clk.val();
            self.link_1[i].rst.next = self.rst.val();
            self.link_2[i].clock.next = self.clk.val();
            self.link_2[i].rst.next = self.rst.val();
            self.stop_1[i].clock.next = self.clk.val();
            self.stop_1[i].rst.next = self.rst.val();
            self.stop_2[i].clock.next = self.clk.val();
            self.stop_2[i].rst.next = self.rst.val();
            self.lost_1[i].clock.next = self.clk.val();
            self.lost_1[i].rst.next = self.rst.val();
            self.lost_2[i].clock.next = self.clk.val();
            self.lost_2[i].rst.next = self.rst.val();
            self.pair_class[i].next_header.next = self.group_words.q.val().get_bits::<8>(i * 64 + 24);
            self.class_of[i].d.next = self.pair_class[i].class_code.val();
            self.pair_checksum[i].protocol.next = self.group_words.q.val().get_bits::<8>(i * 64 + 24);
            self.checksum_of[i].d.next = self.pair_checksum[i].checksum.val();
            // Pairs of the header beyond its first.
            self.extra_1[i].next = self.group_words.q.val().get_bits::<8>(i * 64 + 16);
            self.extra_2[i].next = self.extra_1[i].val() >> 1;
            self.is_lost_1[i].next = (self.extra_1[i].val() >= 13) | !self.group_whole.q.val().get_bit(i * 2);
            self.is_lost_2[i].next = (self.extra_2[i].val() >= 13) | !self.group_whole.q.val().get_bit(i * 2);
            self.next_1[i].next = 0.into();
            if !self.is_lost_1[i].val() {
                self.next_1[i].next = self.pair_behind[i].val() << self.extra_1[i].val().get_bits::<4>(0);
            }
            self.next_2[i].next = 0.into();
            if !self.is_lost_2[i].val() {
                self.next_2[i].next = self.pair_behind[i].val() << self.extra_2[i].val().get_bits::<4>(0);
            }
            self.lost_1[i].d.next = self.is_lost_1[i].val();
            self.lost_2[i].d.next = self.is_lost_2[i].val();
            self.link_1[i].d.next = self.next_1[i].val();
            self.link_2[i].d.next = self.next_2[i].val();
            self.stop_1[i].d.next = !self.next_1[i].val().any() | !self.pair_class[i].class_code.val().any();
            self.stop_2[i].d.next = !self.next_2[i].val().any() | !self.pair_class[i].class_code.val().any();
        }

        // Cycle 4: the walk from header to header within the group.
        self.is_active.next = self.active.q.val() & self.walk_there.q.val();
        self.is_six.next = self.six.q.val();
        self.position_now.next = self.position.q.val();
        self.chain_now.next = self.chain.q.val();
        self.summed_now.next = self.summed.q.val();
        if self.walk_first.q.val() {
            self.is_active.next = self.opens4.q.val() | self.opens6.q.val();
            self.is_six.next = self.opens6.q.val();
            self.position_now.next = self.opening_position.q.val();
            self.chain_now.next = self.opening_class.q.val();
            self.summed_now.next = self.opening_checksum.q.val();
            self.length.d.next = self.walk_words.q.val().get_bits::<16>(0);
            if self.opens6.q.val() {
                self.length.d.next = self.walk_words.q.val().get_bits::<16>(48);
            }
        }
        self.entry.next = self.first_pair.val() << self.position_now.val().get_bits::<5>(1);
        self.reach_1.next = 0.into();
        self.reach_2.next = 0.into();
        self.reach_3.next = 0.into();
        if self.chain_now.val() == 1 {
            self.reach_1.next = self.entry.val();
        } else if self.chain_now.val() == 2 {
            self.reach_2.next = self.entry.val();
        } else if self.chain_now.val() == 3 {
            self.reach_3.next = self.entry.val();
        }
        self.jump.next = 0.into();
        self.low_extra.next = 0.into();
        for i in 0..P {
            self.low_extra.next = self.walk_words.q.val().get_bits::<4>(i * 64 + 16);
            self.step_1[i].next = bit_cast::<6, 4>(self.low_extra.val()) << 1;
            self.low_extra.next = self.walk_words.q.val().get_bits::<4>(i * 64 + 17);
            self.step_2[i].next = bit_cast::<6, 4>(self.low_extra.val()) << 1;
            self.jump.next = 0.into();
            if self.reach_1.val().get_bit(i) {
                self.jump.next = self.link_1[i].q.val();
                if self.stop_1[i].q.val() {
                    self.position_now.next = self.pair_end[i].val() + self.step_1[i].val();
                    self.chain_now.next = self.class_of[i].q.val();
                    self.summed_now.next = self.checksum_of[i].q.val();
                    // Behind the window, or without the header's first word, there is no payload.
                    if self.lost_1[i].q.val() {
                        self.position_now.next = 63.into();
                        self.chain_now.next = 0.into();
                    }
                }
            }
            if self.reach_2.val().get_bit(i) {
                self.jump.next = self.link_2[i].q.val();
                if self.stop_2[i].q.val() {
                    self.position_now.next = self.pair_end[i].val() + self.step_2[i].val();
                    self.chain_now.next = self.class_of[i].q.val();
                    self.summed_now.next = self.checksum_of[i].q.val();
                    if self.lost_2[i].q.val() {
                        self.position_now.next = 63.into();
                        self.chain_now.next = 0.into();
                    }
                }
            }
            // A fragment header is the last.
            if self.reach_3.val().get_bit(i) {
                self.position_now.next = self.pair_end[i].val();
                if !self.walk_whole.q.val().get_bit(i * 2) {
                    self.position_now.next = 63.into();
                }
                self.chain_now.next = 0.into();
                self.summed_now.next = self.checksum_of[i].q.val();
            }
            if self.class_of[i].q.val() == 1 {
                self.reach_1.next = self.reach_1.val() | self.jump.val();
            } else if self.class_of[i].q.val() == 2 {
                self.reach_2.next = self.reach_2.val() | self.jump.val();
            } else if self.class_of[i].q.val() == 3 {
                self.reach_3.next = self.reach_3.val() | self.jump.val();
            }
        }
        self.hit.next = self.is_active.val()
            & !self.chain_now.val().any()
            & !(self.position_now.val() & self.beyond.val()).any();
        self.is_complete.next = self.complete.q.val();
        if self.is_active.val() {
            if self.is_six.val() {
                if (self.walk_index.q.val() == self.ipv6_end_group.val())
                    & (self.walk_whole.q.val() & self.ipv6_end.val()).any()
                {
                    self.is_complete.next = true;
                }
            } else if self.walk_first.q.val() & self.walk_whole.q.val().get_bit(4) {
                self.is_complete.next = true;
            }
        }
        if self.walk_there.q.val() {
            self.active.d.next = self.is_active.val();
            self.six.d.next = self.is_six.val();
            self.chain.d.next = self.chain_now.val();
            self.summed.d.next = self.summed_now.val();
            // Modulo 64: what was hit, and what is lost, stays beyond every group that the window still has.
            self.position.d.next = self.position_now.val() - self.beat_words_count.val();
            self.complete.d.next = self.is_complete.val();
        }
        if self.walk_closes.q.val() {
            self.active.d.next = false;
            self.complete.d.next = false;
        }

        self.old_slot.next = self.old_valid.q.val() & (self.old_closes.q.val() | self.walk_event.q.val());
        self.old_valid.d.next = self.walk_event.q.val() | (self.old_valid.q.val() & !self.old_slot.val());
        if self.walk_event.q.val() {
            self.old_there.d.next = self.walk_there.q.val();
            self.old_words.d.next = self.walk_words.q.val();
            self.old_index.d.next = self.walk_index.q.val();
            self.old_bad.d.next = self.walk_bad.q.val();
            self.old_hit.d.next = self.hit.val();
            self.old_offset.d.next = self.position_now.val().get_bits::<4>(0) & self.group_mask.val();
            self.old_checksum.d.next = self.summed_now.val();
            self.old_time.d.next = self.walk_time.q.val();
            self.old_measured.d.next = self.is_complete.val() & !self.walk_bad.q.val();
            self.old_closes.d.next = self.walk_closes.q.val();
        }

        // Cycle 5: the group before and the one behind it, if it belongs to the frame.
        self.behind_words.next = 0.into();
        if !self.old_closes.q.val() & self.walk_there.q.val() {
            self.behind_words.next = self.walk_words.q.val();
        }
        self.old_window.next = bit_cast::<W, B>(self.old_words.q.val())
            | (bit_cast::<W, B>(self.behind_words.val()) << self.beat_bits.val());
        self.offset_shift.next = bit_cast::<10, 4>(self.old_offset.q.val()) << 5;
        self.payload.next = self.old_window.val() >> self.offset_shift.val();

        // What the length field leaves for the payload, 0..=28 bytes of it.
        self.base.next = 0.into();
        if self.old_index.q.val().get_bit(0) {
            self.base.next = self.base.val() + self.beat_words_count.val();
        }
        if self.old_index.q.val().get_bit(1) {
            self.base.next = self.base.val() + (self.beat_words_count.val() << 1);
        }
        self.taken.next = self.base.val() + bit_cast::<6, 4>(self.old_offset.q.val());
        if self.six.q.val() {
            self.taken.next = self.base.val() + bit_cast::<6, 4>(self.old_offset.q.val()) - 10;
        }
        self.left.next = bit_cast::<17, 16>(self.length.q.val()) - (bit_cast::<17, 6>(self.taken.val()) << 2);
        self.payload_bytes.next = self.left.val().get_bits::<5>(0);
        if self.left.val().get_bit(16) {
            self.payload_bytes.next = 0.into();
        } else if self.left.val().get_bits::<11>(5).any() | (self.left.val().get_bits::<5>(0) > 28) {
            self.payload_bytes.next = 28.into();
        }
        self.absent.next = self.all_bytes.val() >> self.payload_bytes.val();
        for i in 0..7 {
            self.mask[i].next = 0xffff_ffff_u64.into();
            if self.absent.val().get_bit(24 - i * 4) {
                self.mask[i].next = 0xffff_ff00_u64.into();
            }
            if self.absent.val().get_bit(25 - i * 4) {
                self.mask[i].next = 0xffff_0000_u64.into();
            }
            if self.absent.val().get_bit(26 - i * 4) {
                self.mask[i].next = 0xff00_0000_u64.into();
            }
            if self.absent.val().get_bit(27 - i * 4) {
                self.mask[i].next = 0.into();
            }
        }
        if self.old_checksum.q.val().get_bit(0) {
            self.mask[1].next = self.mask[1].val() & 0xffff_0000_u64;
        }
        if self.old_checksum.q.val().get_bit(1) {
            self.mask[4].next = self.mask[4].val() & 0x0000_ffff_u64;
        }

        // The key: the fixed header, without what routers rewrite, and the payload.
        for i in 0..17 {
            self.key_word[i].clock.next = self.clk.val();
            self.key_word[i].rst.next = self.rst.val();
            self.key_word[i].d.next = self.key_word[i].q.val();
            self.vector.word[i].next = self.key_word[i].q.val();
        }
        if self.old_slot.val() & self.old_there.q.val() {
            if self.old_index.q.val() == 0 {
                for i in 0..10 {
                    self.key_word[i].d.next = self.old_window.val().get_bits::<32>(i * 32);
                }
                if self.six.q.val() {
                    self.key_word[0].d.next = self.old_window.val().get_bits::<32>(0) & 0xf000_0000_u64;
                    self.key_word[1].d.next = self.old_window.val().get_bits::<32>(32) & 0xffff_ff00_u64;
                } else {
                    self.key_word[0].d.next = self.old_window.val().get_bits::<32>(0) & 0xff00_ffff_u64;
                    self.key_word[2].d.next = self.old_window.val().get_bits::<32>(64) & 0x00ff_0000_u64;
                    for i in 5..10 {
                        self.key_word[i].d.next = 0.into();
                    }
                }
                for i in 0..7 {
                    self.key_word[i + 10].d.next = 0.into();
                }
            }
            if self.old_hit.q.val() {
                for i in 0..7 {
                    self.key_word[i + 10].d.next =
                        self.payload.val().get_bits::<32>(i * 32) & self.mask[i].val();
                }
            }
        }
        self.committed.d.next = self.old_slot.val() & self.old_closes.q.val();
        self.commit_measured.d.next = self.old_measured.q.val();
        self.commit_bad.d.next = self.old_bad.q.val();
        self.commit_time.d.next = self.old_time.q.val();
        self.commit_length.d.next = bit_cast::<17, 16>(self.length.q.val());
        if self.six.q.val() {
            self.commit_length.d.next = bit_cast::<17, 16>(self.length.q.val()) + 40;
        }

        self.commit.next = self.committed.q.val();
        self.measured.next = self.commit_measured.q.val();
        self.bad.next = self.commit_bad.q.val();
        self.key.next = self.vector.key.val();
        self.timestamp.next = self.commit_time.q.val();
        self.ip_length.next = self.commit_length.q.val();
        self.delimiter.next = self.group_delimiter.q.val();
        self.delimiter_number.next = self.group_number.q.val();
        self.delimiter_epoch.next = self.group_epoch.q.val();
    }
}
