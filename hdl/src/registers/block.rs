//! The register block; see the module above for its theory and ports.
//!
//! Made by `cargo xtask registers` from `hdl/registers/deltaline.rdl`: change that.

use crate::leaves::Flop;
use crate::module::module;
use crate::registers::axi_lite::AxiLite;
use deltaline_hdl_macros::clocked;
use deltaline_model::registers::Capability;
use rust_hdl_core::prelude::*;

/// What is constant in hardware and given when it is emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emitted {
    /// The register of this name.
    pub capability: Capability,
    /// The register of this name.
    pub configuration: u64,
    /// The register of this name.
    pub build: u32,
}

/// See the [module](super).
#[derive(LogicBlock)]
pub struct Registers {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<12>>,
    pub s_axil_awprot: Signal<In, Bits<3>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<12>>,
    pub s_axil_arprot: Signal<In, Bits<3>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub control_role: Signal<Out, Bit>,
    pub control_interval_source: Signal<Out, Bits<2>>,
    pub control_interval_log2: Signal<Out, Bits<6>>,
    pub status_running: Signal<In, Bit>,
    pub status_ptp_locked: Signal<In, Bit>,
    pub status_drain_busy: Signal<In, Bit>,
    pub status_end_refused: Signal<In, Bit>,
    pub status_prefixes_pending: Signal<In, Bit>,
    pub status_key_pending: Signal<In, Bit>,
    pub status_mixing_pending: Signal<In, Bit>,
    pub snapshot: Signal<Out, Bit>,
    pub interval: Signal<In, Bits<32>>,
    pub packets: Signal<In, Bits<48>>,
    pub bytes: Signal<In, Bits<48>>,
    pub unmeasured: Signal<In, Bits<32>>,
    pub bad: Signal<In, Bits<32>>,
    pub refused_ends: Signal<In, Bits<16>>,
    pub control_frames: Signal<In, Bits<32>>,
    pub unmatched: Signal<In, Bits<32>>,
    pub delimiters: Signal<In, Bits<32>>,
    pub delimiter_gaps: Signal<In, Bits<32>>,
    pub interval_end: Signal<Out, Bit>,
    pub timestamp: Signal<In, Bits<64>>,
    pub clock_status_locked: Signal<In, Bit>,
    pub clock_status_slewing: Signal<In, Bit>,
    pub clock_synchronised: Signal<Out, Bit>,
    pub clock_period: Signal<Out, Bits<40>>,
    pub clock_rate: Signal<Out, Bits<32>>,
    pub clock_offset: Signal<Out, Bits<32>>,
    pub clock_value: Signal<Out, Bits<64>>,
    pub clock_command_set: Signal<Out, Bit>,
    pub clock_command_step: Signal<Out, Bit>,
    pub clock_command_slew: Signal<Out, Bit>,
    pub prefixes_next: Signal<Out, Bits<64>>,
    pub prefixes_next_allowed: Signal<In, Bit>,
    pub prefixes_from: Signal<Out, Bits<32>>,
    pub prefixes_from_allowed: Signal<In, Bit>,
    pub prefixes_schedule: Signal<Out, Bit>,
    pub prefixes_schedule_allowed: Signal<In, Bit>,
    pub point_id: Signal<Out, Bits<32>>,
    pub boot_epoch: Signal<Out, Bits<32>>,
    pub boot_epoch_allowed: Signal<In, Bit>,
    pub key_low: Signal<Out, Bits<64>>,
    pub key_low_allowed: Signal<In, Bit>,
    pub key_high: Signal<Out, Bits<64>>,
    pub key_high_allowed: Signal<In, Bit>,
    pub key_id: Signal<Out, Bits<16>>,
    pub key_id_allowed: Signal<In, Bit>,
    pub key_from: Signal<Out, Bits<32>>,
    pub key_from_allowed: Signal<In, Bit>,
    pub key_schedule: Signal<Out, Bit>,
    pub key_schedule_allowed: Signal<In, Bit>,
    pub least_interval: Signal<Out, Bits<32>>,
    pub mixing_matrix: Signal<Out, Bits<63>>,
    pub mixing_matrix_allowed: Signal<In, Bit>,
    pub mixing_offset: Signal<Out, Bits<32>>,
    pub mixing_offset_allowed: Signal<In, Bit>,
    pub mixing_id: Signal<Out, Bits<32>>,
    pub mixing_id_allowed: Signal<In, Bit>,
    pub mixing_from: Signal<Out, Bits<32>>,
    pub mixing_from_allowed: Signal<In, Bit>,
    pub mixing_schedule: Signal<Out, Bit>,
    pub mixing_schedule_allowed: Signal<In, Bit>,

    axi: AxiLite,
    readable: Signal<Local, Bit>,
    capability_given: Constant<Bits<32>>,
    configuration_0_given: Constant<Bits<32>>,
    configuration_1_given: Constant<Bits<32>>,
    build_given: Constant<Bits<32>>,
    block_type_addressed: Flop<Bit>,
    block_type_read: Signal<Local, Bits<32>>,
    version_addressed: Flop<Bit>,
    version_read: Signal<Local, Bits<32>>,
    next_block_addressed: Flop<Bit>,
    capability_addressed: Flop<Bit>,
    capability_read: Signal<Local, Bits<32>>,
    configuration_0_addressed: Flop<Bit>,
    configuration_0_read: Signal<Local, Bits<32>>,
    configuration_1_addressed: Flop<Bit>,
    configuration_1_read: Signal<Local, Bits<32>>,
    build_addressed: Flop<Bit>,
    build_read: Signal<Local, Bits<32>>,
    control_addressed: Flop<Bit>,
    control_read: Signal<Local, Bits<32>>,
    control_reserved: Signal<Local, Bits<32>>,
    control_interval_source_asked: Signal<Local, Bits<2>>,
    control_interval_log2_asked: Signal<Local, Bits<6>>,
    control_legal: Signal<Local, Bit>,
    control_write: Signal<Local, Bit>,
    control_role_held: Flop<Bit>,
    control_interval_source_held: Flop<Bits<2>>,
    control_interval_log2_held: Flop<Bits<6>>,
    status_addressed: Flop<Bit>,
    status_read: Signal<Local, Bits<32>>,
    snapshot_addressed: Flop<Bit>,
    snapshot_reserved: Signal<Local, Bits<32>>,
    snapshot_legal: Signal<Local, Bit>,
    snapshot_write: Signal<Local, Bit>,
    snapshot_pulse: Flop<Bit>,
    interval_addressed: Flop<Bit>,
    interval_read: Signal<Local, Bits<32>>,
    interval_taken: Flop<Bits<32>>,
    packets_0_addressed: Flop<Bit>,
    packets_0_read: Signal<Local, Bits<32>>,
    packets_1_addressed: Flop<Bit>,
    packets_1_read: Signal<Local, Bits<32>>,
    packets_taken: Flop<Bits<48>>,
    bytes_0_addressed: Flop<Bit>,
    bytes_0_read: Signal<Local, Bits<32>>,
    bytes_1_addressed: Flop<Bit>,
    bytes_1_read: Signal<Local, Bits<32>>,
    bytes_taken: Flop<Bits<48>>,
    unmeasured_addressed: Flop<Bit>,
    unmeasured_read: Signal<Local, Bits<32>>,
    unmeasured_taken: Flop<Bits<32>>,
    bad_addressed: Flop<Bit>,
    bad_read: Signal<Local, Bits<32>>,
    bad_taken: Flop<Bits<32>>,
    refused_ends_addressed: Flop<Bit>,
    refused_ends_read: Signal<Local, Bits<32>>,
    refused_ends_taken: Flop<Bits<16>>,
    control_frames_addressed: Flop<Bit>,
    control_frames_read: Signal<Local, Bits<32>>,
    control_frames_taken: Flop<Bits<32>>,
    unmatched_addressed: Flop<Bit>,
    unmatched_read: Signal<Local, Bits<32>>,
    unmatched_taken: Flop<Bits<32>>,
    delimiters_addressed: Flop<Bit>,
    delimiters_read: Signal<Local, Bits<32>>,
    delimiters_taken: Flop<Bits<32>>,
    delimiter_gaps_addressed: Flop<Bit>,
    delimiter_gaps_read: Signal<Local, Bits<32>>,
    delimiter_gaps_taken: Flop<Bits<32>>,
    interval_end_addressed: Flop<Bit>,
    interval_end_reserved: Signal<Local, Bits<32>>,
    interval_end_legal: Signal<Local, Bit>,
    interval_end_write: Signal<Local, Bit>,
    interval_end_pulse: Flop<Bit>,
    timestamp_0_addressed: Flop<Bit>,
    timestamp_0_read: Signal<Local, Bits<32>>,
    timestamp_1_addressed: Flop<Bit>,
    timestamp_1_read: Signal<Local, Bits<32>>,
    timestamp_taken: Flop<Bits<64>>,
    clock_status_addressed: Flop<Bit>,
    clock_status_read: Signal<Local, Bits<32>>,
    clock_synchronised_addressed: Flop<Bit>,
    clock_synchronised_read: Signal<Local, Bits<32>>,
    clock_synchronised_reserved: Signal<Local, Bits<32>>,
    clock_synchronised_legal: Signal<Local, Bit>,
    clock_synchronised_write: Signal<Local, Bit>,
    clock_synchronised_held: Flop<Bit>,
    clock_period_0_addressed: Flop<Bit>,
    clock_period_0_read: Signal<Local, Bits<32>>,
    clock_period_0_legal: Signal<Local, Bit>,
    clock_period_0_write: Signal<Local, Bit>,
    clock_period_1_addressed: Flop<Bit>,
    clock_period_1_read: Signal<Local, Bits<32>>,
    clock_period_1_reserved: Signal<Local, Bits<32>>,
    clock_period_1_legal: Signal<Local, Bit>,
    clock_period_1_write: Signal<Local, Bit>,
    clock_period_held_0: Flop<Bits<32>>,
    clock_period_held_1: Flop<Bits<8>>,
    clock_rate_addressed: Flop<Bit>,
    clock_rate_read: Signal<Local, Bits<32>>,
    clock_rate_legal: Signal<Local, Bit>,
    clock_rate_write: Signal<Local, Bit>,
    clock_rate_held: Flop<Bits<32>>,
    clock_offset_addressed: Flop<Bit>,
    clock_offset_read: Signal<Local, Bits<32>>,
    clock_offset_legal: Signal<Local, Bit>,
    clock_offset_write: Signal<Local, Bit>,
    clock_offset_held: Flop<Bits<32>>,
    clock_value_0_addressed: Flop<Bit>,
    clock_value_0_read: Signal<Local, Bits<32>>,
    clock_value_0_legal: Signal<Local, Bit>,
    clock_value_0_write: Signal<Local, Bit>,
    clock_value_1_addressed: Flop<Bit>,
    clock_value_1_read: Signal<Local, Bits<32>>,
    clock_value_1_legal: Signal<Local, Bit>,
    clock_value_1_write: Signal<Local, Bit>,
    clock_value_held_0: Flop<Bits<32>>,
    clock_value_held_1: Flop<Bits<32>>,
    clock_command_addressed: Flop<Bit>,
    clock_command_reserved: Signal<Local, Bits<32>>,
    clock_command_legal: Signal<Local, Bit>,
    clock_command_write: Signal<Local, Bit>,
    clock_command_set_pulse: Flop<Bit>,
    clock_command_step_pulse: Flop<Bit>,
    clock_command_slew_pulse: Flop<Bit>,
    prefixes_next_0_addressed: Flop<Bit>,
    prefixes_next_0_read: Signal<Local, Bits<32>>,
    prefixes_next_0_legal: Signal<Local, Bit>,
    prefixes_next_0_write: Signal<Local, Bit>,
    prefixes_next_1_addressed: Flop<Bit>,
    prefixes_next_1_read: Signal<Local, Bits<32>>,
    prefixes_next_1_legal: Signal<Local, Bit>,
    prefixes_next_1_write: Signal<Local, Bit>,
    prefixes_next_held_0: Flop<Bits<32>>,
    prefixes_next_held_1: Flop<Bits<32>>,
    prefixes_from_addressed: Flop<Bit>,
    prefixes_from_read: Signal<Local, Bits<32>>,
    prefixes_from_legal: Signal<Local, Bit>,
    prefixes_from_write: Signal<Local, Bit>,
    prefixes_from_held: Flop<Bits<32>>,
    prefixes_schedule_addressed: Flop<Bit>,
    prefixes_schedule_reserved: Signal<Local, Bits<32>>,
    prefixes_schedule_legal: Signal<Local, Bit>,
    prefixes_schedule_write: Signal<Local, Bit>,
    prefixes_schedule_pulse: Flop<Bit>,
    point_id_addressed: Flop<Bit>,
    point_id_read: Signal<Local, Bits<32>>,
    point_id_legal: Signal<Local, Bit>,
    point_id_write: Signal<Local, Bit>,
    point_id_held: Flop<Bits<32>>,
    boot_epoch_addressed: Flop<Bit>,
    boot_epoch_read: Signal<Local, Bits<32>>,
    boot_epoch_legal: Signal<Local, Bit>,
    boot_epoch_write: Signal<Local, Bit>,
    boot_epoch_held: Flop<Bits<32>>,
    key_low_0_addressed: Flop<Bit>,
    key_low_0_legal: Signal<Local, Bit>,
    key_low_0_write: Signal<Local, Bit>,
    key_low_1_addressed: Flop<Bit>,
    key_low_1_legal: Signal<Local, Bit>,
    key_low_1_write: Signal<Local, Bit>,
    key_low_held_0: Flop<Bits<32>>,
    key_low_held_1: Flop<Bits<32>>,
    key_high_0_addressed: Flop<Bit>,
    key_high_0_legal: Signal<Local, Bit>,
    key_high_0_write: Signal<Local, Bit>,
    key_high_1_addressed: Flop<Bit>,
    key_high_1_legal: Signal<Local, Bit>,
    key_high_1_write: Signal<Local, Bit>,
    key_high_held_0: Flop<Bits<32>>,
    key_high_held_1: Flop<Bits<32>>,
    key_id_addressed: Flop<Bit>,
    key_id_read: Signal<Local, Bits<32>>,
    key_id_reserved: Signal<Local, Bits<32>>,
    key_id_legal: Signal<Local, Bit>,
    key_id_write: Signal<Local, Bit>,
    key_id_held: Flop<Bits<16>>,
    key_from_addressed: Flop<Bit>,
    key_from_read: Signal<Local, Bits<32>>,
    key_from_legal: Signal<Local, Bit>,
    key_from_write: Signal<Local, Bit>,
    key_from_held: Flop<Bits<32>>,
    key_schedule_addressed: Flop<Bit>,
    key_schedule_reserved: Signal<Local, Bits<32>>,
    key_schedule_legal: Signal<Local, Bit>,
    key_schedule_write: Signal<Local, Bit>,
    key_schedule_pulse: Flop<Bit>,
    least_interval_addressed: Flop<Bit>,
    least_interval_read: Signal<Local, Bits<32>>,
    least_interval_legal: Signal<Local, Bit>,
    least_interval_write: Signal<Local, Bit>,
    least_interval_held: Flop<Bits<32>>,
    mixing_matrix_0_addressed: Flop<Bit>,
    mixing_matrix_0_legal: Signal<Local, Bit>,
    mixing_matrix_0_write: Signal<Local, Bit>,
    mixing_matrix_1_addressed: Flop<Bit>,
    mixing_matrix_1_reserved: Signal<Local, Bits<32>>,
    mixing_matrix_1_legal: Signal<Local, Bit>,
    mixing_matrix_1_write: Signal<Local, Bit>,
    mixing_matrix_held_0: Flop<Bits<32>>,
    mixing_matrix_held_1: Flop<Bits<31>>,
    mixing_offset_addressed: Flop<Bit>,
    mixing_offset_legal: Signal<Local, Bit>,
    mixing_offset_write: Signal<Local, Bit>,
    mixing_offset_held: Flop<Bits<32>>,
    mixing_id_addressed: Flop<Bit>,
    mixing_id_read: Signal<Local, Bits<32>>,
    mixing_id_legal: Signal<Local, Bit>,
    mixing_id_write: Signal<Local, Bit>,
    mixing_id_held: Flop<Bits<32>>,
    mixing_from_addressed: Flop<Bit>,
    mixing_from_read: Signal<Local, Bits<32>>,
    mixing_from_legal: Signal<Local, Bit>,
    mixing_from_write: Signal<Local, Bit>,
    mixing_from_held: Flop<Bits<32>>,
    mixing_schedule_addressed: Flop<Bit>,
    mixing_schedule_reserved: Signal<Local, Bits<32>>,
    mixing_schedule_legal: Signal<Local, Bit>,
    mixing_schedule_write: Signal<Local, Bit>,
    mixing_schedule_pulse: Flop<Bit>,
}

impl Registers {
    /// The registers of a build.
    pub fn new(emitted: &Emitted) -> Self {
        module! { Registers {
            capability_given: Constant::new((u64::from(emitted.capability.0)).into()),
            configuration_0_given: Constant::new((emitted.configuration & 0xffff_ffff).into()),
            configuration_1_given: Constant::new((emitted.configuration >> 32).into()),
            build_given: Constant::new((u64::from(emitted.build)).into()),
        }
            clk rst s_axil_awaddr s_axil_awprot s_axil_awvalid s_axil_awready s_axil_wdata s_axil_wstrb
            s_axil_wvalid s_axil_wready s_axil_bresp s_axil_bvalid s_axil_bready s_axil_araddr s_axil_arprot
            s_axil_arvalid s_axil_arready s_axil_rdata s_axil_rresp s_axil_rvalid s_axil_rready control_role
            control_interval_source control_interval_log2 status_running status_ptp_locked status_drain_busy
            status_end_refused status_prefixes_pending status_key_pending status_mixing_pending snapshot
            interval packets bytes unmeasured bad refused_ends control_frames unmatched delimiters
            delimiter_gaps interval_end timestamp clock_status_locked clock_status_slewing clock_synchronised
            clock_period clock_rate clock_offset clock_value clock_command_set clock_command_step
            clock_command_slew prefixes_next prefixes_next_allowed prefixes_from prefixes_from_allowed
            prefixes_schedule prefixes_schedule_allowed point_id boot_epoch boot_epoch_allowed key_low
            key_low_allowed key_high key_high_allowed key_id key_id_allowed key_from key_from_allowed
            key_schedule key_schedule_allowed least_interval mixing_matrix mixing_matrix_allowed mixing_offset
            mixing_offset_allowed mixing_id mixing_id_allowed mixing_from mixing_from_allowed mixing_schedule
            mixing_schedule_allowed axi readable block_type_addressed block_type_read version_addressed
            version_read next_block_addressed capability_addressed capability_read configuration_0_addressed
            configuration_0_read configuration_1_addressed configuration_1_read build_addressed build_read
            control_addressed control_read control_reserved control_interval_source_asked
            control_interval_log2_asked control_legal control_write control_role_held
            control_interval_source_held control_interval_log2_held status_addressed status_read
            snapshot_addressed snapshot_reserved snapshot_legal snapshot_write snapshot_pulse
            interval_addressed interval_read interval_taken packets_0_addressed packets_0_read
            packets_1_addressed packets_1_read packets_taken bytes_0_addressed bytes_0_read bytes_1_addressed
            bytes_1_read bytes_taken unmeasured_addressed unmeasured_read unmeasured_taken bad_addressed
            bad_read bad_taken refused_ends_addressed refused_ends_read refused_ends_taken
            control_frames_addressed control_frames_read control_frames_taken unmatched_addressed
            unmatched_read unmatched_taken delimiters_addressed delimiters_read delimiters_taken
            delimiter_gaps_addressed delimiter_gaps_read delimiter_gaps_taken interval_end_addressed
            interval_end_reserved interval_end_legal interval_end_write interval_end_pulse
            timestamp_0_addressed timestamp_0_read timestamp_1_addressed timestamp_1_read timestamp_taken
            clock_status_addressed clock_status_read clock_synchronised_addressed clock_synchronised_read
            clock_synchronised_reserved clock_synchronised_legal clock_synchronised_write
            clock_synchronised_held clock_period_0_addressed clock_period_0_read clock_period_0_legal
            clock_period_0_write clock_period_1_addressed clock_period_1_read clock_period_1_reserved
            clock_period_1_legal clock_period_1_write clock_period_held_0 clock_period_held_1
            clock_rate_addressed clock_rate_read clock_rate_legal clock_rate_write clock_rate_held
            clock_offset_addressed clock_offset_read clock_offset_legal clock_offset_write clock_offset_held
            clock_value_0_addressed clock_value_0_read clock_value_0_legal clock_value_0_write
            clock_value_1_addressed clock_value_1_read clock_value_1_legal clock_value_1_write
            clock_value_held_0 clock_value_held_1 clock_command_addressed clock_command_reserved
            clock_command_legal clock_command_write clock_command_set_pulse clock_command_step_pulse
            clock_command_slew_pulse prefixes_next_0_addressed prefixes_next_0_read prefixes_next_0_legal
            prefixes_next_0_write prefixes_next_1_addressed prefixes_next_1_read prefixes_next_1_legal
            prefixes_next_1_write prefixes_next_held_0 prefixes_next_held_1 prefixes_from_addressed
            prefixes_from_read prefixes_from_legal prefixes_from_write prefixes_from_held
            prefixes_schedule_addressed prefixes_schedule_reserved prefixes_schedule_legal
            prefixes_schedule_write prefixes_schedule_pulse point_id_addressed point_id_read point_id_legal
            point_id_write point_id_held boot_epoch_addressed boot_epoch_read boot_epoch_legal
            boot_epoch_write boot_epoch_held key_low_0_addressed key_low_0_legal key_low_0_write
            key_low_1_addressed key_low_1_legal key_low_1_write key_low_held_0 key_low_held_1
            key_high_0_addressed key_high_0_legal key_high_0_write key_high_1_addressed key_high_1_legal
            key_high_1_write key_high_held_0 key_high_held_1 key_id_addressed key_id_read key_id_reserved
            key_id_legal key_id_write key_id_held key_from_addressed key_from_read key_from_legal
            key_from_write key_from_held key_schedule_addressed key_schedule_reserved key_schedule_legal
            key_schedule_write key_schedule_pulse least_interval_addressed least_interval_read
            least_interval_legal least_interval_write least_interval_held mixing_matrix_0_addressed
            mixing_matrix_0_legal mixing_matrix_0_write mixing_matrix_1_addressed mixing_matrix_1_reserved
            mixing_matrix_1_legal mixing_matrix_1_write mixing_matrix_held_0 mixing_matrix_held_1
            mixing_offset_addressed mixing_offset_legal mixing_offset_write mixing_offset_held
            mixing_id_addressed mixing_id_read mixing_id_legal mixing_id_write mixing_id_held
            mixing_from_addressed mixing_from_read mixing_from_legal mixing_from_write mixing_from_held
            mixing_schedule_addressed mixing_schedule_reserved mixing_schedule_legal mixing_schedule_write
            mixing_schedule_pulse
        }
    }
}

impl Logic for Registers {
    #[clocked(
        block_type_addressed,
        version_addressed,
        next_block_addressed,
        capability_addressed,
        configuration_0_addressed,
        configuration_1_addressed,
        build_addressed,
        control_addressed,
        control_role_held,
        control_interval_source_held,
        control_interval_log2_held,
        status_addressed,
        snapshot_addressed,
        snapshot_pulse,
        interval_addressed,
        interval_taken,
        packets_0_addressed,
        packets_1_addressed,
        packets_taken,
        bytes_0_addressed,
        bytes_1_addressed,
        bytes_taken,
        unmeasured_addressed,
        unmeasured_taken,
        bad_addressed,
        bad_taken,
        refused_ends_addressed,
        refused_ends_taken,
        control_frames_addressed,
        control_frames_taken,
        unmatched_addressed,
        unmatched_taken,
        delimiters_addressed,
        delimiters_taken,
        delimiter_gaps_addressed,
        delimiter_gaps_taken,
        interval_end_addressed,
        interval_end_pulse,
        timestamp_0_addressed,
        timestamp_1_addressed,
        timestamp_taken,
        clock_status_addressed,
        clock_synchronised_addressed,
        clock_synchronised_held,
        clock_period_0_addressed,
        clock_period_1_addressed,
        clock_period_held_0,
        clock_period_held_1,
        clock_rate_addressed,
        clock_rate_held,
        clock_offset_addressed,
        clock_offset_held,
        clock_value_0_addressed,
        clock_value_1_addressed,
        clock_value_held_0,
        clock_value_held_1,
        clock_command_addressed,
        clock_command_set_pulse,
        clock_command_step_pulse,
        clock_command_slew_pulse,
        prefixes_next_0_addressed,
        prefixes_next_1_addressed,
        prefixes_next_held_0,
        prefixes_next_held_1,
        prefixes_from_addressed,
        prefixes_from_held,
        prefixes_schedule_addressed,
        prefixes_schedule_pulse,
        point_id_addressed,
        point_id_held,
        boot_epoch_addressed,
        boot_epoch_held,
        key_low_0_addressed,
        key_low_1_addressed,
        key_low_held_0,
        key_low_held_1,
        key_high_0_addressed,
        key_high_1_addressed,
        key_high_held_0,
        key_high_held_1,
        key_id_addressed,
        key_id_held,
        key_from_addressed,
        key_from_held,
        key_schedule_addressed,
        key_schedule_pulse,
        least_interval_addressed,
        least_interval_held,
        mixing_matrix_0_addressed,
        mixing_matrix_1_addressed,
        mixing_matrix_held_0,
        mixing_matrix_held_1,
        mixing_offset_addressed,
        mixing_offset_held,
        mixing_id_addressed,
        mixing_id_held,
        mixing_from_addressed,
        mixing_from_held,
        mixing_schedule_addressed,
        mixing_schedule_pulse
    )]
    fn update(&mut self) {
        self.axi.clk.next = self.clk.val();
        self.axi.rst.next = self.rst.val();
        self.axi.s_axil_awaddr.next = self.s_axil_awaddr.val();
        self.axi.s_axil_awvalid.next = self.s_axil_awvalid.val();
        self.s_axil_awready.next = self.axi.s_axil_awready.val();
        self.axi.s_axil_wdata.next = self.s_axil_wdata.val();
        self.axi.s_axil_wstrb.next = self.s_axil_wstrb.val();
        self.axi.s_axil_wvalid.next = self.s_axil_wvalid.val();
        self.s_axil_wready.next = self.axi.s_axil_wready.val();
        self.s_axil_bresp.next = self.axi.s_axil_bresp.val();
        self.s_axil_bvalid.next = self.axi.s_axil_bvalid.val();
        self.axi.s_axil_bready.next = self.s_axil_bready.val();
        self.axi.s_axil_araddr.next = self.s_axil_araddr.val();
        self.axi.s_axil_arvalid.next = self.s_axil_arvalid.val();
        self.s_axil_arready.next = self.axi.s_axil_arready.val();
        self.s_axil_rdata.next = self.axi.s_axil_rdata.val();
        self.s_axil_rresp.next = self.axi.s_axil_rresp.val();
        self.s_axil_rvalid.next = self.axi.s_axil_rvalid.val();
        self.axi.s_axil_rready.next = self.s_axil_rready.val();

        self.block_type_addressed.d.next = self.axi.read_address.val() == 0x0;
        self.block_type_read.next = 0.into();
        if self.block_type_addressed.q.val() {
            self.block_type_read.next = 0x44454c54_u64.into();
        }
        self.version_addressed.d.next = self.axi.read_address.val() == 0x4;
        self.version_read.next = 0.into();
        if self.version_addressed.q.val() {
            self.version_read.next = 0x00010005_u64.into();
        }
        self.next_block_addressed.d.next = self.axi.read_address.val() == 0x8;
        self.capability_addressed.d.next = self.axi.read_address.val() == 0xc;
        self.capability_read.next = 0.into();
        if self.capability_addressed.q.val() {
            self.capability_read.next = self.capability_given.val();
        }
        self.configuration_0_addressed.d.next = self.axi.read_address.val() == 0x10;
        self.configuration_0_read.next = 0.into();
        if self.configuration_0_addressed.q.val() {
            self.configuration_0_read.next = self.configuration_0_given.val();
        }
        self.configuration_1_addressed.d.next = self.axi.read_address.val() == 0x14;
        self.configuration_1_read.next = 0.into();
        if self.configuration_1_addressed.q.val() {
            self.configuration_1_read.next = self.configuration_1_given.val();
        }
        self.build_addressed.d.next = self.axi.read_address.val() == 0x18;
        self.build_read.next = 0.into();
        if self.build_addressed.q.val() {
            self.build_read.next = self.build_given.val();
        }
        self.control_addressed.d.next = self.axi.read_address.val() == 0x20;
        self.control_read.next = 0.into();
        if self.control_addressed.q.val() {
            self.control_read.next = bit_cast::<32, 1>(self.control_role_held.q.val().into())
                | (bit_cast::<32, 2>(self.control_interval_source_held.q.val()) << 4)
                | (bit_cast::<32, 6>(self.control_interval_log2_held.q.val()) << 8);
        }
        self.control_reserved.next = self.axi.write_data.val() & 0xffffc0ce_u64;
        self.control_interval_source_asked.next = self.axi.write_data.val().get_bits::<2>(4);
        self.control_interval_log2_asked.next = self.axi.write_data.val().get_bits::<6>(8);
        self.control_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x20)
            & !self.control_reserved.val().any()
            & (self.control_interval_source_asked.val() != 2)
            & (self.control_interval_source_asked.val() != 3)
            & (self.control_interval_log2_asked.val() <= 47);
        self.control_write.next = self.axi.write.val() & self.control_legal.val();
        if self.control_write.val() {
            self.control_role_held.d.next = self.axi.write_data.val().get_bit(0);
        }
        self.control_role.next = self.control_role_held.q.val();
        if self.control_write.val() {
            self.control_interval_source_held.d.next = self.axi.write_data.val().get_bits::<2>(4);
        }
        self.control_interval_source.next = self.control_interval_source_held.q.val();
        if self.control_write.val() {
            self.control_interval_log2_held.d.next = self.axi.write_data.val().get_bits::<6>(8);
        }
        self.control_interval_log2.next = self.control_interval_log2_held.q.val();
        self.status_addressed.d.next = self.axi.read_address.val() == 0x24;
        self.status_read.next = 0.into();
        if self.status_addressed.q.val() {
            self.status_read.next = bit_cast::<32, 1>(self.status_running.val().into())
                | (bit_cast::<32, 1>(self.status_ptp_locked.val().into()) << 1)
                | (bit_cast::<32, 1>(self.status_drain_busy.val().into()) << 2)
                | (bit_cast::<32, 1>(self.status_end_refused.val().into()) << 3)
                | (bit_cast::<32, 1>(self.status_prefixes_pending.val().into()) << 4)
                | (bit_cast::<32, 1>(self.status_key_pending.val().into()) << 5)
                | (bit_cast::<32, 1>(self.status_mixing_pending.val().into()) << 6);
        }
        self.snapshot_addressed.d.next = self.axi.read_address.val() == 0x28;
        self.snapshot_reserved.next = self.axi.write_data.val() & 0xfffffffe_u64;
        self.snapshot_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x28)
            & !self.snapshot_reserved.val().any();
        self.snapshot_write.next = self.axi.write.val() & self.snapshot_legal.val();
        self.snapshot_pulse.d.next = self.snapshot_write.val() & self.axi.write_data.val().get_bit(0);
        self.snapshot.next = self.snapshot_pulse.q.val();
        self.interval_addressed.d.next = self.axi.read_address.val() == 0x2c;
        self.interval_read.next = 0.into();
        if self.interval_addressed.q.val() {
            self.interval_read.next = self.interval_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.interval_taken.d.next = self.interval.val();
        }
        self.packets_0_addressed.d.next = self.axi.read_address.val() == 0x30;
        self.packets_0_read.next = 0.into();
        if self.packets_0_addressed.q.val() {
            self.packets_0_read.next = self.packets_taken.q.val().get_bits::<32>(0);
        }
        self.packets_1_addressed.d.next = self.axi.read_address.val() == 0x34;
        self.packets_1_read.next = 0.into();
        if self.packets_1_addressed.q.val() {
            self.packets_1_read.next = bit_cast::<32, 16>(self.packets_taken.q.val().get_bits::<16>(32));
        }
        if self.snapshot_pulse.q.val() {
            self.packets_taken.d.next = self.packets.val();
        }
        self.bytes_0_addressed.d.next = self.axi.read_address.val() == 0x38;
        self.bytes_0_read.next = 0.into();
        if self.bytes_0_addressed.q.val() {
            self.bytes_0_read.next = self.bytes_taken.q.val().get_bits::<32>(0);
        }
        self.bytes_1_addressed.d.next = self.axi.read_address.val() == 0x3c;
        self.bytes_1_read.next = 0.into();
        if self.bytes_1_addressed.q.val() {
            self.bytes_1_read.next = bit_cast::<32, 16>(self.bytes_taken.q.val().get_bits::<16>(32));
        }
        if self.snapshot_pulse.q.val() {
            self.bytes_taken.d.next = self.bytes.val();
        }
        self.unmeasured_addressed.d.next = self.axi.read_address.val() == 0x40;
        self.unmeasured_read.next = 0.into();
        if self.unmeasured_addressed.q.val() {
            self.unmeasured_read.next = self.unmeasured_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.unmeasured_taken.d.next = self.unmeasured.val();
        }
        self.bad_addressed.d.next = self.axi.read_address.val() == 0x44;
        self.bad_read.next = 0.into();
        if self.bad_addressed.q.val() {
            self.bad_read.next = self.bad_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.bad_taken.d.next = self.bad.val();
        }
        self.refused_ends_addressed.d.next = self.axi.read_address.val() == 0x48;
        self.refused_ends_read.next = 0.into();
        if self.refused_ends_addressed.q.val() {
            self.refused_ends_read.next = bit_cast::<32, 16>(self.refused_ends_taken.q.val());
        }
        if self.snapshot_pulse.q.val() {
            self.refused_ends_taken.d.next = self.refused_ends.val();
        }
        self.control_frames_addressed.d.next = self.axi.read_address.val() == 0x4c;
        self.control_frames_read.next = 0.into();
        if self.control_frames_addressed.q.val() {
            self.control_frames_read.next = self.control_frames_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.control_frames_taken.d.next = self.control_frames.val();
        }
        self.unmatched_addressed.d.next = self.axi.read_address.val() == 0x50;
        self.unmatched_read.next = 0.into();
        if self.unmatched_addressed.q.val() {
            self.unmatched_read.next = self.unmatched_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.unmatched_taken.d.next = self.unmatched.val();
        }
        self.delimiters_addressed.d.next = self.axi.read_address.val() == 0x54;
        self.delimiters_read.next = 0.into();
        if self.delimiters_addressed.q.val() {
            self.delimiters_read.next = self.delimiters_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.delimiters_taken.d.next = self.delimiters.val();
        }
        self.delimiter_gaps_addressed.d.next = self.axi.read_address.val() == 0x58;
        self.delimiter_gaps_read.next = 0.into();
        if self.delimiter_gaps_addressed.q.val() {
            self.delimiter_gaps_read.next = self.delimiter_gaps_taken.q.val();
        }
        if self.snapshot_pulse.q.val() {
            self.delimiter_gaps_taken.d.next = self.delimiter_gaps.val();
        }
        self.interval_end_addressed.d.next = self.axi.read_address.val() == 0x5c;
        self.interval_end_reserved.next = self.axi.write_data.val() & 0xfffffffe_u64;
        self.interval_end_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x5c)
            & !self.interval_end_reserved.val().any();
        self.interval_end_write.next = self.axi.write.val() & self.interval_end_legal.val();
        self.interval_end_pulse.d.next = self.interval_end_write.val() & self.axi.write_data.val().get_bit(0);
        self.interval_end.next = self.interval_end_pulse.q.val();
        self.timestamp_0_addressed.d.next = self.axi.read_address.val() == 0x60;
        self.timestamp_0_read.next = 0.into();
        if self.timestamp_0_addressed.q.val() {
            self.timestamp_0_read.next = self.timestamp_taken.q.val().get_bits::<32>(0);
        }
        self.timestamp_1_addressed.d.next = self.axi.read_address.val() == 0x64;
        self.timestamp_1_read.next = 0.into();
        if self.timestamp_1_addressed.q.val() {
            self.timestamp_1_read.next = self.timestamp_taken.q.val().get_bits::<32>(32);
        }
        if self.snapshot_pulse.q.val() {
            self.timestamp_taken.d.next = self.timestamp.val();
        }
        self.clock_status_addressed.d.next = self.axi.read_address.val() == 0x68;
        self.clock_status_read.next = 0.into();
        if self.clock_status_addressed.q.val() {
            self.clock_status_read.next = bit_cast::<32, 1>(self.clock_status_locked.val().into())
                | (bit_cast::<32, 1>(self.clock_status_slewing.val().into()) << 1);
        }
        self.clock_synchronised_addressed.d.next = self.axi.read_address.val() == 0x6c;
        self.clock_synchronised_read.next = 0.into();
        if self.clock_synchronised_addressed.q.val() {
            self.clock_synchronised_read.next =
                bit_cast::<32, 1>(self.clock_synchronised_held.q.val().into());
        }
        self.clock_synchronised_reserved.next = self.axi.write_data.val() & 0xfffffffe_u64;
        self.clock_synchronised_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x6c)
            & !self.clock_synchronised_reserved.val().any();
        self.clock_synchronised_write.next = self.axi.write.val() & self.clock_synchronised_legal.val();
        if self.clock_synchronised_write.val() {
            self.clock_synchronised_held.d.next = self.axi.write_data.val().get_bit(0);
        }
        self.clock_synchronised.next = self.clock_synchronised_held.q.val();
        self.clock_period_0_addressed.d.next = self.axi.read_address.val() == 0x70;
        self.clock_period_0_read.next = 0.into();
        if self.clock_period_0_addressed.q.val() {
            self.clock_period_0_read.next = self.clock_period_held_0.q.val();
        }
        self.clock_period_0_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0x70);
        self.clock_period_0_write.next = self.axi.write.val() & self.clock_period_0_legal.val();
        self.clock_period_1_addressed.d.next = self.axi.read_address.val() == 0x74;
        self.clock_period_1_read.next = 0.into();
        if self.clock_period_1_addressed.q.val() {
            self.clock_period_1_read.next = bit_cast::<32, 8>(self.clock_period_held_1.q.val());
        }
        self.clock_period_1_reserved.next = self.axi.write_data.val() & 0xffffff00_u64;
        self.clock_period_1_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x74)
            & !self.clock_period_1_reserved.val().any();
        self.clock_period_1_write.next = self.axi.write.val() & self.clock_period_1_legal.val();
        if self.clock_period_0_write.val() {
            self.clock_period_held_0.d.next = self.axi.write_data.val();
        }
        if self.clock_period_1_write.val() {
            self.clock_period_held_1.d.next = self.axi.write_data.val().get_bits::<8>(0);
        }
        self.clock_period.next = bit_cast::<40, 32>(self.clock_period_held_0.q.val())
            | (bit_cast::<40, 8>(self.clock_period_held_1.q.val()) << 32);
        self.clock_rate_addressed.d.next = self.axi.read_address.val() == 0x78;
        self.clock_rate_read.next = 0.into();
        if self.clock_rate_addressed.q.val() {
            self.clock_rate_read.next = self.clock_rate_held.q.val();
        }
        self.clock_rate_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0x78);
        self.clock_rate_write.next = self.axi.write.val() & self.clock_rate_legal.val();
        if self.clock_rate_write.val() {
            self.clock_rate_held.d.next = self.axi.write_data.val();
        }
        self.clock_rate.next = self.clock_rate_held.q.val();
        self.clock_offset_addressed.d.next = self.axi.read_address.val() == 0x7c;
        self.clock_offset_read.next = 0.into();
        if self.clock_offset_addressed.q.val() {
            self.clock_offset_read.next = self.clock_offset_held.q.val();
        }
        self.clock_offset_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0x7c);
        self.clock_offset_write.next = self.axi.write.val() & self.clock_offset_legal.val();
        if self.clock_offset_write.val() {
            self.clock_offset_held.d.next = self.axi.write_data.val();
        }
        self.clock_offset.next = self.clock_offset_held.q.val();
        self.clock_value_0_addressed.d.next = self.axi.read_address.val() == 0x80;
        self.clock_value_0_read.next = 0.into();
        if self.clock_value_0_addressed.q.val() {
            self.clock_value_0_read.next = self.clock_value_held_0.q.val();
        }
        self.clock_value_0_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0x80);
        self.clock_value_0_write.next = self.axi.write.val() & self.clock_value_0_legal.val();
        self.clock_value_1_addressed.d.next = self.axi.read_address.val() == 0x84;
        self.clock_value_1_read.next = 0.into();
        if self.clock_value_1_addressed.q.val() {
            self.clock_value_1_read.next = self.clock_value_held_1.q.val();
        }
        self.clock_value_1_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0x84);
        self.clock_value_1_write.next = self.axi.write.val() & self.clock_value_1_legal.val();
        if self.clock_value_0_write.val() {
            self.clock_value_held_0.d.next = self.axi.write_data.val();
        }
        if self.clock_value_1_write.val() {
            self.clock_value_held_1.d.next = self.axi.write_data.val();
        }
        self.clock_value.next = bit_cast::<64, 32>(self.clock_value_held_0.q.val())
            | (bit_cast::<64, 32>(self.clock_value_held_1.q.val()) << 32);
        self.clock_command_addressed.d.next = self.axi.read_address.val() == 0x88;
        self.clock_command_reserved.next = self.axi.write_data.val() & 0xfffffff8_u64;
        self.clock_command_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x88)
            & !self.clock_command_reserved.val().any();
        self.clock_command_write.next = self.axi.write.val() & self.clock_command_legal.val();
        self.clock_command_set_pulse.d.next =
            self.clock_command_write.val() & self.axi.write_data.val().get_bit(0);
        self.clock_command_set.next = self.clock_command_set_pulse.q.val();
        self.clock_command_step_pulse.d.next =
            self.clock_command_write.val() & self.axi.write_data.val().get_bit(1);
        self.clock_command_step.next = self.clock_command_step_pulse.q.val();
        self.clock_command_slew_pulse.d.next =
            self.clock_command_write.val() & self.axi.write_data.val().get_bit(2);
        self.clock_command_slew.next = self.clock_command_slew_pulse.q.val();
        self.prefixes_next_0_addressed.d.next = self.axi.read_address.val() == 0x90;
        self.prefixes_next_0_read.next = 0.into();
        if self.prefixes_next_0_addressed.q.val() {
            self.prefixes_next_0_read.next = self.prefixes_next_held_0.q.val();
        }
        self.prefixes_next_0_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x90)
            & self.prefixes_next_allowed.val();
        self.prefixes_next_0_write.next = self.axi.write.val() & self.prefixes_next_0_legal.val();
        self.prefixes_next_1_addressed.d.next = self.axi.read_address.val() == 0x94;
        self.prefixes_next_1_read.next = 0.into();
        if self.prefixes_next_1_addressed.q.val() {
            self.prefixes_next_1_read.next = self.prefixes_next_held_1.q.val();
        }
        self.prefixes_next_1_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x94)
            & self.prefixes_next_allowed.val();
        self.prefixes_next_1_write.next = self.axi.write.val() & self.prefixes_next_1_legal.val();
        if self.prefixes_next_0_write.val() {
            self.prefixes_next_held_0.d.next = self.axi.write_data.val();
        }
        if self.prefixes_next_1_write.val() {
            self.prefixes_next_held_1.d.next = self.axi.write_data.val();
        }
        self.prefixes_next.next = bit_cast::<64, 32>(self.prefixes_next_held_0.q.val())
            | (bit_cast::<64, 32>(self.prefixes_next_held_1.q.val()) << 32);
        self.prefixes_from_addressed.d.next = self.axi.read_address.val() == 0x98;
        self.prefixes_from_read.next = 0.into();
        if self.prefixes_from_addressed.q.val() {
            self.prefixes_from_read.next = self.prefixes_from_held.q.val();
        }
        self.prefixes_from_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x98)
            & self.prefixes_from_allowed.val();
        self.prefixes_from_write.next = self.axi.write.val() & self.prefixes_from_legal.val();
        if self.prefixes_from_write.val() {
            self.prefixes_from_held.d.next = self.axi.write_data.val();
        }
        self.prefixes_from.next = self.prefixes_from_held.q.val();
        self.prefixes_schedule_addressed.d.next = self.axi.read_address.val() == 0x9c;
        self.prefixes_schedule_reserved.next = self.axi.write_data.val() & 0xfffffffe_u64;
        self.prefixes_schedule_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0x9c)
            & !self.prefixes_schedule_reserved.val().any()
            & self.prefixes_schedule_allowed.val();
        self.prefixes_schedule_write.next = self.axi.write.val() & self.prefixes_schedule_legal.val();
        self.prefixes_schedule_pulse.d.next =
            self.prefixes_schedule_write.val() & self.axi.write_data.val().get_bit(0);
        self.prefixes_schedule.next = self.prefixes_schedule_pulse.q.val();
        self.point_id_addressed.d.next = self.axi.read_address.val() == 0xa0;
        self.point_id_read.next = 0.into();
        if self.point_id_addressed.q.val() {
            self.point_id_read.next = self.point_id_held.q.val();
        }
        self.point_id_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0xa0);
        self.point_id_write.next = self.axi.write.val() & self.point_id_legal.val();
        if self.point_id_write.val() {
            self.point_id_held.d.next = self.axi.write_data.val();
        }
        self.point_id.next = self.point_id_held.q.val();
        self.boot_epoch_addressed.d.next = self.axi.read_address.val() == 0xa4;
        self.boot_epoch_read.next = 0.into();
        if self.boot_epoch_addressed.q.val() {
            self.boot_epoch_read.next = self.boot_epoch_held.q.val();
        }
        self.boot_epoch_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xa4)
            & self.boot_epoch_allowed.val();
        self.boot_epoch_write.next = self.axi.write.val() & self.boot_epoch_legal.val();
        if self.boot_epoch_write.val() {
            self.boot_epoch_held.d.next = self.axi.write_data.val();
        }
        self.boot_epoch.next = self.boot_epoch_held.q.val();
        self.key_low_0_addressed.d.next = self.axi.read_address.val() == 0xa8;
        self.key_low_0_legal.next =
            self.axi.write_whole.val() & (self.axi.write_address.val() == 0xa8) & self.key_low_allowed.val();
        self.key_low_0_write.next = self.axi.write.val() & self.key_low_0_legal.val();
        self.key_low_1_addressed.d.next = self.axi.read_address.val() == 0xac;
        self.key_low_1_legal.next =
            self.axi.write_whole.val() & (self.axi.write_address.val() == 0xac) & self.key_low_allowed.val();
        self.key_low_1_write.next = self.axi.write.val() & self.key_low_1_legal.val();
        if self.key_low_0_write.val() {
            self.key_low_held_0.d.next = self.axi.write_data.val();
        }
        if self.key_low_1_write.val() {
            self.key_low_held_1.d.next = self.axi.write_data.val();
        }
        self.key_low.next = bit_cast::<64, 32>(self.key_low_held_0.q.val())
            | (bit_cast::<64, 32>(self.key_low_held_1.q.val()) << 32);
        self.key_high_0_addressed.d.next = self.axi.read_address.val() == 0xb0;
        self.key_high_0_legal.next =
            self.axi.write_whole.val() & (self.axi.write_address.val() == 0xb0) & self.key_high_allowed.val();
        self.key_high_0_write.next = self.axi.write.val() & self.key_high_0_legal.val();
        self.key_high_1_addressed.d.next = self.axi.read_address.val() == 0xb4;
        self.key_high_1_legal.next =
            self.axi.write_whole.val() & (self.axi.write_address.val() == 0xb4) & self.key_high_allowed.val();
        self.key_high_1_write.next = self.axi.write.val() & self.key_high_1_legal.val();
        if self.key_high_0_write.val() {
            self.key_high_held_0.d.next = self.axi.write_data.val();
        }
        if self.key_high_1_write.val() {
            self.key_high_held_1.d.next = self.axi.write_data.val();
        }
        self.key_high.next = bit_cast::<64, 32>(self.key_high_held_0.q.val())
            | (bit_cast::<64, 32>(self.key_high_held_1.q.val()) << 32);
        self.key_id_addressed.d.next = self.axi.read_address.val() == 0xb8;
        self.key_id_read.next = 0.into();
        if self.key_id_addressed.q.val() {
            self.key_id_read.next = bit_cast::<32, 16>(self.key_id_held.q.val());
        }
        self.key_id_reserved.next = self.axi.write_data.val() & 0xffff0000_u64;
        self.key_id_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xb8)
            & !self.key_id_reserved.val().any()
            & self.key_id_allowed.val();
        self.key_id_write.next = self.axi.write.val() & self.key_id_legal.val();
        if self.key_id_write.val() {
            self.key_id_held.d.next = self.axi.write_data.val().get_bits::<16>(0);
        }
        self.key_id.next = self.key_id_held.q.val();
        self.key_from_addressed.d.next = self.axi.read_address.val() == 0xbc;
        self.key_from_read.next = 0.into();
        if self.key_from_addressed.q.val() {
            self.key_from_read.next = self.key_from_held.q.val();
        }
        self.key_from_legal.next =
            self.axi.write_whole.val() & (self.axi.write_address.val() == 0xbc) & self.key_from_allowed.val();
        self.key_from_write.next = self.axi.write.val() & self.key_from_legal.val();
        if self.key_from_write.val() {
            self.key_from_held.d.next = self.axi.write_data.val();
        }
        self.key_from.next = self.key_from_held.q.val();
        self.key_schedule_addressed.d.next = self.axi.read_address.val() == 0xc0;
        self.key_schedule_reserved.next = self.axi.write_data.val() & 0xfffffffe_u64;
        self.key_schedule_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xc0)
            & !self.key_schedule_reserved.val().any()
            & self.key_schedule_allowed.val();
        self.key_schedule_write.next = self.axi.write.val() & self.key_schedule_legal.val();
        self.key_schedule_pulse.d.next = self.key_schedule_write.val() & self.axi.write_data.val().get_bit(0);
        self.key_schedule.next = self.key_schedule_pulse.q.val();
        self.least_interval_addressed.d.next = self.axi.read_address.val() == 0xc4;
        self.least_interval_read.next = 0.into();
        if self.least_interval_addressed.q.val() {
            self.least_interval_read.next = self.least_interval_held.q.val();
        }
        self.least_interval_legal.next = self.axi.write_whole.val() & (self.axi.write_address.val() == 0xc4);
        self.least_interval_write.next = self.axi.write.val() & self.least_interval_legal.val();
        if self.least_interval_write.val() {
            self.least_interval_held.d.next = self.axi.write_data.val();
        }
        self.least_interval.next = self.least_interval_held.q.val();
        self.mixing_matrix_0_addressed.d.next = self.axi.read_address.val() == 0xd0;
        self.mixing_matrix_0_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xd0)
            & self.mixing_matrix_allowed.val();
        self.mixing_matrix_0_write.next = self.axi.write.val() & self.mixing_matrix_0_legal.val();
        self.mixing_matrix_1_addressed.d.next = self.axi.read_address.val() == 0xd4;
        self.mixing_matrix_1_reserved.next = self.axi.write_data.val() & 0x80000000_u64;
        self.mixing_matrix_1_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xd4)
            & !self.mixing_matrix_1_reserved.val().any()
            & self.mixing_matrix_allowed.val();
        self.mixing_matrix_1_write.next = self.axi.write.val() & self.mixing_matrix_1_legal.val();
        if self.mixing_matrix_0_write.val() {
            self.mixing_matrix_held_0.d.next = self.axi.write_data.val();
        }
        if self.mixing_matrix_1_write.val() {
            self.mixing_matrix_held_1.d.next = self.axi.write_data.val().get_bits::<31>(0);
        }
        self.mixing_matrix.next = bit_cast::<63, 32>(self.mixing_matrix_held_0.q.val())
            | (bit_cast::<63, 31>(self.mixing_matrix_held_1.q.val()) << 32);
        self.mixing_offset_addressed.d.next = self.axi.read_address.val() == 0xd8;
        self.mixing_offset_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xd8)
            & self.mixing_offset_allowed.val();
        self.mixing_offset_write.next = self.axi.write.val() & self.mixing_offset_legal.val();
        if self.mixing_offset_write.val() {
            self.mixing_offset_held.d.next = self.axi.write_data.val();
        }
        self.mixing_offset.next = self.mixing_offset_held.q.val();
        self.mixing_id_addressed.d.next = self.axi.read_address.val() == 0xdc;
        self.mixing_id_read.next = 0.into();
        if self.mixing_id_addressed.q.val() {
            self.mixing_id_read.next = self.mixing_id_held.q.val();
        }
        self.mixing_id_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xdc)
            & self.mixing_id_allowed.val();
        self.mixing_id_write.next = self.axi.write.val() & self.mixing_id_legal.val();
        if self.mixing_id_write.val() {
            self.mixing_id_held.d.next = self.axi.write_data.val();
        }
        self.mixing_id.next = self.mixing_id_held.q.val();
        self.mixing_from_addressed.d.next = self.axi.read_address.val() == 0xe0;
        self.mixing_from_read.next = 0.into();
        if self.mixing_from_addressed.q.val() {
            self.mixing_from_read.next = self.mixing_from_held.q.val();
        }
        self.mixing_from_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xe0)
            & self.mixing_from_allowed.val();
        self.mixing_from_write.next = self.axi.write.val() & self.mixing_from_legal.val();
        if self.mixing_from_write.val() {
            self.mixing_from_held.d.next = self.axi.write_data.val();
        }
        self.mixing_from.next = self.mixing_from_held.q.val();
        self.mixing_schedule_addressed.d.next = self.axi.read_address.val() == 0xe4;
        self.mixing_schedule_reserved.next = self.axi.write_data.val() & 0xfffffffe_u64;
        self.mixing_schedule_legal.next = self.axi.write_whole.val()
            & (self.axi.write_address.val() == 0xe4)
            & !self.mixing_schedule_reserved.val().any()
            & self.mixing_schedule_allowed.val();
        self.mixing_schedule_write.next = self.axi.write.val() & self.mixing_schedule_legal.val();
        self.mixing_schedule_pulse.d.next =
            self.mixing_schedule_write.val() & self.axi.write_data.val().get_bit(0);
        self.mixing_schedule.next = self.mixing_schedule_pulse.q.val();

        self.readable.next = self.block_type_addressed.q.val()
            | self.version_addressed.q.val()
            | self.next_block_addressed.q.val()
            | self.capability_addressed.q.val()
            | self.configuration_0_addressed.q.val()
            | self.configuration_1_addressed.q.val()
            | self.build_addressed.q.val()
            | self.control_addressed.q.val()
            | self.status_addressed.q.val()
            | self.snapshot_addressed.q.val()
            | self.interval_addressed.q.val()
            | self.packets_0_addressed.q.val()
            | self.packets_1_addressed.q.val()
            | self.bytes_0_addressed.q.val()
            | self.bytes_1_addressed.q.val()
            | self.unmeasured_addressed.q.val()
            | self.bad_addressed.q.val()
            | self.refused_ends_addressed.q.val()
            | self.control_frames_addressed.q.val()
            | self.unmatched_addressed.q.val()
            | self.delimiters_addressed.q.val()
            | self.delimiter_gaps_addressed.q.val()
            | self.interval_end_addressed.q.val()
            | self.timestamp_0_addressed.q.val()
            | self.timestamp_1_addressed.q.val()
            | self.clock_status_addressed.q.val()
            | self.clock_synchronised_addressed.q.val()
            | self.clock_period_0_addressed.q.val()
            | self.clock_period_1_addressed.q.val()
            | self.clock_rate_addressed.q.val()
            | self.clock_offset_addressed.q.val()
            | self.clock_value_0_addressed.q.val()
            | self.clock_value_1_addressed.q.val()
            | self.clock_command_addressed.q.val()
            | self.prefixes_next_0_addressed.q.val()
            | self.prefixes_next_1_addressed.q.val()
            | self.prefixes_from_addressed.q.val()
            | self.prefixes_schedule_addressed.q.val()
            | self.point_id_addressed.q.val()
            | self.boot_epoch_addressed.q.val()
            | self.key_low_0_addressed.q.val()
            | self.key_low_1_addressed.q.val()
            | self.key_high_0_addressed.q.val()
            | self.key_high_1_addressed.q.val()
            | self.key_id_addressed.q.val()
            | self.key_from_addressed.q.val()
            | self.key_schedule_addressed.q.val()
            | self.least_interval_addressed.q.val()
            | self.mixing_matrix_0_addressed.q.val()
            | self.mixing_matrix_1_addressed.q.val()
            | self.mixing_offset_addressed.q.val()
            | self.mixing_id_addressed.q.val()
            | self.mixing_from_addressed.q.val()
            | self.mixing_schedule_addressed.q.val();
        self.axi.read_legal.next = self.readable.val();
        self.axi.read_data.next = self.block_type_read.val()
            | self.version_read.val()
            | self.capability_read.val()
            | self.configuration_0_read.val()
            | self.configuration_1_read.val()
            | self.build_read.val()
            | self.control_read.val()
            | self.status_read.val()
            | self.interval_read.val()
            | self.packets_0_read.val()
            | self.packets_1_read.val()
            | self.bytes_0_read.val()
            | self.bytes_1_read.val()
            | self.unmeasured_read.val()
            | self.bad_read.val()
            | self.refused_ends_read.val()
            | self.control_frames_read.val()
            | self.unmatched_read.val()
            | self.delimiters_read.val()
            | self.delimiter_gaps_read.val()
            | self.timestamp_0_read.val()
            | self.timestamp_1_read.val()
            | self.clock_status_read.val()
            | self.clock_synchronised_read.val()
            | self.clock_period_0_read.val()
            | self.clock_period_1_read.val()
            | self.clock_rate_read.val()
            | self.clock_offset_read.val()
            | self.clock_value_0_read.val()
            | self.clock_value_1_read.val()
            | self.prefixes_next_0_read.val()
            | self.prefixes_next_1_read.val()
            | self.prefixes_from_read.val()
            | self.point_id_read.val()
            | self.boot_epoch_read.val()
            | self.key_id_read.val()
            | self.key_from_read.val()
            | self.least_interval_read.val()
            | self.mixing_id_read.val()
            | self.mixing_from_read.val();
        self.axi.write_legal.next = self.control_legal.val()
            | self.snapshot_legal.val()
            | self.interval_end_legal.val()
            | self.clock_synchronised_legal.val()
            | self.clock_period_0_legal.val()
            | self.clock_period_1_legal.val()
            | self.clock_rate_legal.val()
            | self.clock_offset_legal.val()
            | self.clock_value_0_legal.val()
            | self.clock_value_1_legal.val()
            | self.clock_command_legal.val()
            | self.prefixes_next_0_legal.val()
            | self.prefixes_next_1_legal.val()
            | self.prefixes_from_legal.val()
            | self.prefixes_schedule_legal.val()
            | self.point_id_legal.val()
            | self.boot_epoch_legal.val()
            | self.key_low_0_legal.val()
            | self.key_low_1_legal.val()
            | self.key_high_0_legal.val()
            | self.key_high_1_legal.val()
            | self.key_id_legal.val()
            | self.key_from_legal.val()
            | self.key_schedule_legal.val()
            | self.least_interval_legal.val()
            | self.mixing_matrix_0_legal.val()
            | self.mixing_matrix_1_legal.val()
            | self.mixing_offset_legal.val()
            | self.mixing_id_legal.val()
            | self.mixing_from_legal.val()
            | self.mixing_schedule_legal.val();
    }
}
