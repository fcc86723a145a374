// aggregator: the assumptions of the proofs of lane and emitter hold, and cells and totals belong to one interval.
//
// Proven, without bound on time, for one lane and for two, for one class and for two, any frames (even in every
// cycle) and any ends:
//   * a copy is cleared only when no packet of it was committed in this cycle and the 28 before. Nor is any
//     committed from then on until the copies swap: the drain has its port to itself, and what it shows is
//     complete;
//   * the drain's clear reaches only the idle copy, and the clear after a reset reaches both;
//   * the drain's address stays for a cycle after a clear; drains never overlap, and no copy changes its role
//     during one;
//   * nothing counts before both copies are clear;
//   * a measured frame of a class is passed to its lane and to its class's totals and time sum a cycle after its commit, once,
//     for the same copy, with its own length and timestamp; its key comes in the cycle before. Frames of one cycle
//     count in the order of their lanes. Any other frame is counted as bad or unmeasured and not passed to the
//     lane. Interval ends come in the order of the commits, and the emitter gets the totals and sums of the class
//     that it asks for, and the absolute time of the end;
//   * the drain sees the sums of the lanes' cells.
//
// Assumed: a classifier names an existing class. Classifiers, lanes and totals are cut out: their outputs are
// unconstrained. A reset may come at any time.
//
// Parameters: A, the width of an address; TWO_LANES; TWO_CLASSES.
`define MEMORY aggregator_ram_macro
`include "memory.v"

module aggregator_proof(
    input wire clk,
    input wire rst,
    input wire [1:0] commit,
    input wire [1:0] measured,
    input wire [1:0] bad,
    input wire [543:0] key_0,
    input wire [543:0] key_1,
    input wire [63:0] timestamp_0,
    input wire [63:0] timestamp_1,
    input wire [16:0] ip_length_0,
    input wire [16:0] ip_length_1,
    input wire [1:0] delimiter,
    input wire [31:0] delimiter_number_0,
    input wire [31:0] delimiter_number_1,
    input wire [31:0] delimiter_epoch_0,
    input wire [31:0] delimiter_epoch_1,
    input wire request,
    input wire unlocked,
    input wire receiver,
    input wire [31:0] point_id,
    input wire [55:0] absolute_time,
    input wire schedule,
    input wire [63:0] next_prefixes,
    input wire [31:0] from_interval,
    input wire [31:0] least_interval,
    input wire m_axis_tready
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);
`ifdef TRACE
    always @* assume (rst == !started && m_axis_tready);
`endif
    wire running;
    aggregator dut(
        .keyed(1'b0), .due_ready(1'b0), .next_ready(1'b0), .due_signed_0(1'b0), .next_signed_0(1'b0),
`ifdef TWO_LANES
        .due_signed_1(1'b0), .next_signed_1(1'b0),
`endif
        .clk(clk), .rst(rst), .commit_0(commit[0]), .measured_0(measured[0]), .bad_0(bad[0]), .key_0(key_0),
        .timestamp_0(timestamp_0), .ip_length_0(ip_length_0),
`ifdef TWO_LANES
        .commit_1(commit[1]), .measured_1(measured[1]), .bad_1(bad[1]), .key_1(key_1), .timestamp_1(timestamp_1),
        .ip_length_1(ip_length_1), .delimiter_1(delimiter[1]), .delimiter_number_1(delimiter_number_1),
        .delimiter_epoch_1(delimiter_epoch_1),
`endif
        .delimiter_0(delimiter[0]), .delimiter_number_0(delimiter_number_0), .delimiter_epoch_0(delimiter_epoch_0),
        .request(request),
        .unlocked(unlocked), .receiver(receiver), .point_id(point_id), .absolute_time(absolute_time),
        .schedule(schedule), .next_prefixes(next_prefixes),
        .schedule_mixing(1'b0), .next_mixing(95'd0), .next_mixing_id(32'd0), .from_mixing(32'd0),
        .from_interval(from_interval), .least_interval(least_interval), .m_axis_tready(m_axis_tready), .running(running)
    );

    // The ports of the lanes; the second lane is idle if there is only one.
    (* hierconn *) wire \dut.lane_0_packet , \dut.lane_0_epoch , \dut.lane_0_drain_epoch ;
    (* hierconn *) wire \dut.lane_0_clear_first , \dut.lane_0_clear_second ;
    (* hierconn *) wire [`A-1:0] \dut.lane_0_drain_address ;
    (* hierconn *) wire [543:0] \dut.lane_0_key ;
    (* hierconn *) wire [1:0] \dut.lane_0_kind , \dut.classifier_0_kind ;
    (* hierconn *) wire \dut.classifier_0_matched ;
    (* hierconn *) wire [39:0] \dut.lane_0_nanoseconds ;
    (* hierconn *) wire [71:0] \dut.lane_0_drained_cell ;

    // The data of the commits of the cycle before, and the classifiers' results for them, which come now.
    reg [1:0] commit_then = 0, measured_then, bad_then;
    reg running_then = 0;
    reg [63:0] timestamp_then_0, timestamp_then_1;
    reg [16:0] ip_length_then_0, ip_length_then_1;
    reg [3:0] unlocked_then = 0;
    always @(posedge clk) begin
        {commit_then, measured_then, bad_then} <= rst ? 0 : {commit, measured, bad};
        running_then <= rst ? 0 : running;
        {timestamp_then_0, timestamp_then_1} <= rst ? 0 : {timestamp_0, timestamp_1};
        {ip_length_then_0, ip_length_then_1} <= rst ? 0 : {ip_length_0, ip_length_1};
        unlocked_then <= rst ? 0 : {unlocked_then[2:0], unlocked};
    end

    wire epoch = \dut.lane_0_epoch ;
    wire drain_epoch = \dut.lane_0_drain_epoch ;
    wire [`A-1:0] drain_address = \dut.lane_0_drain_address ;
    wire [`A+3:0] orders = {epoch, drain_epoch, \dut.lane_0_clear_first , \dut.lane_0_clear_second , drain_address};
`ifdef TWO_LANES
    (* hierconn *) wire \dut.lane_1_packet , \dut.lane_1_epoch , \dut.lane_1_drain_epoch ;
    (* hierconn *) wire \dut.lane_1_clear_first , \dut.lane_1_clear_second ;
    (* hierconn *) wire [`A-1:0] \dut.lane_1_drain_address ;
    (* hierconn *) wire [543:0] \dut.lane_1_key ;
    (* hierconn *) wire [1:0] \dut.lane_1_kind , \dut.classifier_1_kind ;
    (* hierconn *) wire \dut.classifier_1_matched ;
    (* hierconn *) wire [39:0] \dut.lane_1_nanoseconds ;
    (* hierconn *) wire [71:0] \dut.lane_1_drained_cell ;
    wire [`A+3:0] orders_1 = {\dut.lane_1_epoch , \dut.lane_1_drain_epoch , \dut.lane_1_clear_first ,
        \dut.lane_1_clear_second , \dut.lane_1_drain_address };
    wire [1:0] lane_packet = {\dut.lane_1_packet , \dut.lane_0_packet };
    wire [1:0] frame = commit_then & {2{running_then}};
    wire [1:0] matched = {\dut.classifier_1_matched , \dut.classifier_0_matched };
    wire [1:0] kind_1 = \dut.classifier_1_kind ;
    wire [71:0] other_cell = \dut.lane_1_drained_cell ;
    (* hierconn *) wire [1:0] \dut.lane_1_sent_kind ;
    (* hierconn *) wire \dut.lane_1_ends ;
    always @* if (started) begin
        assert (orders_1 == orders);
        assert (\dut.lane_1_key == key_1 && \dut.lane_1_nanoseconds == timestamp_then_1[55:16]);
        assert (\dut.lane_1_kind == kind_1);
    end
`else
    wire [1:0] lane_packet = {1'b0, \dut.lane_0_packet };
    wire [1:0] frame = {1'b0, commit_then[0] & running_then};
    wire [1:0] matched = {1'b0, \dut.classifier_0_matched };
    wire [1:0] kind_1 = 0;
    wire [71:0] other_cell = 0;
`endif

    // The ports of the totals, the emitter and the interval.
    (* hierconn *) wire \dut.totals_ends , \dut.totals_epoch , \dut.totals_timed , \dut.totals_unlocked ;
    (* hierconn *) wire [2:0] \dut.totals_unmeasured , \dut.totals_bad , \dut.unmatched_count_frames ;
    (* hierconn *) wire \dut.class_totals_0_ends , \dut.unmatched_count_ends ;
    (* hierconn *) wire [2:0] \dut.class_totals_0_packet ;
    (* hierconn *) wire [18:0] \dut.class_totals_0_ip_length ;
    (* hierconn *) wire [63:0] \dut.class_totals_0_first_now , \dut.class_totals_0_last_now ;
    (* hierconn *) wire [47:0] \dut.class_totals_0_ended_packets , \dut.emitter_packets ;
    (* hierconn *) wire [47:0] \dut.class_totals_0_ended_bytes , \dut.emitter_bytes ;
    (* hierconn *) wire [63:0] \dut.class_totals_0_ended_first , \dut.emitter_first ;
    (* hierconn *) wire [63:0] \dut.class_totals_0_ended_last , \dut.emitter_last ;
    (* hierconn *) wire [1:0] \dut.emitter_kind ;
    (* hierconn *) wire \dut.intervals_delimiter_0 , \dut.intervals_request , \dut.intervals_timed , \dut.intervals_gap ;
    (* hierconn *) wire \dut.totals_gap ;
    (* hierconn *) wire [31:0] \dut.intervals_delimiter_number_0 , \dut.intervals_delimiter_epoch_0 ;
    (* hierconn *) wire [2:0] \dut.intervals_refused , \dut.intervals_ignored , \dut.intervals_ignored_behind ;
    (* hierconn *) wire [2:0] \dut.totals_refused , \dut.totals_ignored , \dut.totals_ignored_behind ;
    wire [10:0] verdict = {\dut.intervals_timed , \dut.intervals_gap , \dut.intervals_refused , \dut.intervals_ignored ,
        \dut.intervals_ignored_behind };
    (* hierconn *) wire \dut.time_sum_0_ends , \dut.lane_0_ends ;
    (* hierconn *) wire [25:0] \dut.time_sum_0_low_now , \dut.time_sum_0_high_now ;
    (* hierconn *) wire [63:0] \dut.time_sum_0_ended , \dut.emitter_time_sum ;
    (* hierconn *) wire [31:0] \dut.emitter_digest_sum , \dut.emitter_point_id ;
    (* hierconn *) wire [1:0] \dut.lane_0_sent_kind ;
    (* hierconn *) wire [55:0] \dut.emitter_absolute_time ;
    wire [287:0] ended_0 = {\dut.class_totals_0_ended_packets , \dut.class_totals_0_ended_bytes ,
        \dut.class_totals_0_ended_first , \dut.class_totals_0_ended_last , \dut.time_sum_0_ended };
    wire [287:0] sent = {\dut.emitter_packets , \dut.emitter_bytes , \dut.emitter_first , \dut.emitter_last ,
        \dut.emitter_time_sum };
    (* hierconn *) wire \dut.intervals_start_drain , \dut.emitter_start , \dut.emitter_busy ;
    (* hierconn *) wire \dut.emitter_clear , \dut.emitter_clear_all ;
    (* hierconn *) wire [71:0] \dut.emitter_drained_cell ;
    wire start = \dut.intervals_start_drain ;

    // Commit.
    wire [1:0] kind_0 = \dut.classifier_0_kind ;
`ifdef TWO_CLASSES
    always @* assume (kind_0 <= 1 && kind_1 <= 1);
`else
    always @* assume (kind_0 == 0 && kind_1 == 0);
`endif
    wire [1:0] packet = frame & measured_then & matched;
    wire [1:0] unmatched = frame & measured_then & ~matched;
    wire [1:0] rejected = frame & ~measured_then & bad_then;
    wire [1:0] foreign = frame & ~measured_then & ~bad_then | unmatched;
    // Those of class 0 and of class 1.
    wire [1:0] of_0 = packet & {kind_1 == 0, kind_0 == 0};
    wire [1:0] of_1 = packet & {kind_1 == 1, kind_0 == 1};
    // When the interval ended that ended last.
    reg [55:0] ended_time;
    always @(posedge clk) ended_time <= rst ? 0 : start ? absolute_time : ended_time;
    wire [39:0] time_sum = \dut.lane_0_drained_cell [39:0] + other_cell[39:0];
    wire [31:0] count_sum = \dut.lane_0_drained_cell [71:40] + other_cell[71:40];
    always @* if (started) begin
        assert (lane_packet == packet && \dut.totals_epoch == epoch);
        assert (\dut.lane_0_key == key_0 && \dut.lane_0_nanoseconds == timestamp_then_0[55:16]);
        assert (\dut.lane_0_kind == kind_0);
        assert (\dut.totals_bad == rejected[0] + rejected[1]);
        assert (\dut.totals_unmeasured == foreign[0] + foreign[1]);
        assert (\dut.unmatched_count_frames == unmatched[0] + unmatched[1]);
        assert (\dut.class_totals_0_packet == of_0[0] + of_0[1]);
        assert (\dut.class_totals_0_ip_length == (of_0[0] ? ip_length_then_0 : 0) + (of_0[1] ? ip_length_then_1 : 0));
        if (of_0 != 0) assert (\dut.class_totals_0_first_now == (of_0[0] ? timestamp_then_0 : timestamp_then_1));
        if (of_0 != 0) assert (\dut.class_totals_0_last_now == (of_0[1] ? timestamp_then_1 : timestamp_then_0));
        assert (\dut.time_sum_0_low_now == (of_0[0] ? timestamp_then_0[39:16] : 0) + (of_0[1] ? timestamp_then_1[39:16] : 0));
        assert (\dut.time_sum_0_high_now == (of_0[0] ? timestamp_then_0[63:40] : 0) + (of_0[1] ? timestamp_then_1[63:40] : 0));
        assert (\dut.time_sum_0_ends == start && \dut.lane_0_ends == start);
        assert (\dut.lane_0_sent_kind == \dut.emitter_kind && \dut.emitter_digest_sum == 0);
        assert (\dut.emitter_absolute_time == ended_time && \dut.emitter_point_id == point_id);
        if (\dut.emitter_kind == 0) assert (sent == ended_0);
        assert (\dut.class_totals_0_ends == start && \dut.unmatched_count_ends == start);
        assert (\dut.intervals_delimiter_0 == delimiter[0] && \dut.intervals_request == request);
        assert (\dut.intervals_delimiter_number_0 == delimiter_number_0 && \dut.intervals_delimiter_epoch_0 == delimiter_epoch_0);
        assert ({\dut.totals_timed , \dut.totals_gap , \dut.totals_refused , \dut.totals_ignored , \dut.totals_ignored_behind } == verdict);
        assert (\dut.totals_unlocked == (running && unlocked_then[3]));
        assert (\dut.emitter_drained_cell == {count_sum, time_sum});
        assert (\dut.totals_ends == start && \dut.emitter_start == start);
`ifdef TWO_LANES
        assert (\dut.lane_1_ends == start && \dut.lane_1_sent_kind == \dut.emitter_kind );
`endif
    end

`ifdef TWO_CLASSES
    (* hierconn *) wire \dut.class_totals_1_ends ;
    (* hierconn *) wire [2:0] \dut.class_totals_1_packet ;
    (* hierconn *) wire [18:0] \dut.class_totals_1_ip_length ;
    (* hierconn *) wire [63:0] \dut.class_totals_1_first_now , \dut.class_totals_1_last_now ;
    (* hierconn *) wire [47:0] \dut.class_totals_1_ended_packets , \dut.class_totals_1_ended_bytes ;
    (* hierconn *) wire [63:0] \dut.class_totals_1_ended_first , \dut.class_totals_1_ended_last ;
    (* hierconn *) wire \dut.time_sum_1_ends ;
    (* hierconn *) wire [25:0] \dut.time_sum_1_low_now , \dut.time_sum_1_high_now ;
    (* hierconn *) wire [63:0] \dut.time_sum_1_ended ;
    wire [287:0] ended_1 = {\dut.class_totals_1_ended_packets , \dut.class_totals_1_ended_bytes ,
        \dut.class_totals_1_ended_first , \dut.class_totals_1_ended_last , \dut.time_sum_1_ended };
    always @* if (started) begin
        assert (\dut.class_totals_1_packet == of_1[0] + of_1[1] && \dut.class_totals_1_ends == start);
        assert (\dut.class_totals_1_ip_length == (of_1[0] ? ip_length_then_0 : 0) + (of_1[1] ? ip_length_then_1 : 0));
        if (of_1 != 0) assert (\dut.class_totals_1_first_now == (of_1[0] ? timestamp_then_0 : timestamp_then_1));
        if (of_1 != 0) assert (\dut.class_totals_1_last_now == (of_1[1] ? timestamp_then_1 : timestamp_then_0));
        assert (\dut.time_sum_1_low_now == (of_1[0] ? timestamp_then_0[39:16] : 0) + (of_1[1] ? timestamp_then_1[39:16] : 0));
        assert (\dut.time_sum_1_high_now == (of_1[0] ? timestamp_then_0[63:40] : 0) + (of_1[1] ? timestamp_then_1[63:40] : 0));
        assert (\dut.time_sum_1_ends == start);
        assert (\dut.emitter_kind <= 1);
        if (\dut.emitter_kind == 1) assert (sent == ended_1);
    end
`else
    always @* if (started) assert (\dut.emitter_kind == 0);
`endif

    // Clears and drains, in an arbitrary copy.
    (* anyconst *) wire copy;
    wire packet_here = packet != 0 && epoch == copy;
    wire clear = copy ? \dut.lane_0_clear_second : \dut.lane_0_clear_first ;
    reg [27:0] packets_here = 0;
    reg rst_before = 1, clear_before, start_before, drain_epoch_before, running_before;
    reg [`A-1:0] address_before;
    always @(posedge clk) begin
        packets_here <= rst ? 0 : {packets_here[26:0], packet_here};
        {rst_before, clear_before, start_before, running_before} <= {rst, clear, start, running};
        {drain_epoch_before, address_before} <= {drain_epoch, drain_address};
    end
    always @* if (started) begin
        if (clear) assert (!packet_here && packets_here == 0);
        assert (clear == (\dut.emitter_clear_all || (\dut.emitter_clear && drain_epoch == copy)));
        if (\dut.emitter_clear_all ) assert (!running);
        assert (drain_epoch != epoch);
        if (!rst_before && clear_before) assert (drain_address == address_before);
        if (start) assert (!\dut.emitter_busy && running);
        if (!rst_before && start_before) assert (\dut.emitter_busy );
        if (!rst_before) assert (drain_epoch == (drain_epoch_before ^ start_before));
        if (!rst_before && running_before) assert (running);
    end
    always @* if (started) begin
        cover (running && !running_before);
        cover (start && packet_here);
        cover (clear && running && packet != 0);
        cover (&packets_here[19:0] && lane_packet != 0 && packet_here);
`ifdef TWO_LANES
        cover (start && packet == 3 && timestamp_then_0 != timestamp_then_1);
`ifdef TWO_CLASSES
        cover (of_0 != 0 && of_1 != 0);
`endif
`endif
    end

`ifdef INVARIANTS
    (* hierconn *) wire [3:0] \dut.emitter.state_q ;
    (* hierconn *) wire [4:0] \dut.emitter.step_q ;
    (* hierconn *) wire [16:0] \dut.emitter.header_step_q ;
    (* hierconn *) wire [2:0] \dut.emitter.section_q ;
    (* hierconn *) wire \dut.emitter.is_idle_q ;
    wire [3:0] state = \dut.emitter.state_q ;
    wire [4:0] step = \dut.emitter.step_q ;
    wire [2:0] section = \dut.emitter.section_q ;
    // What was said of the clock is on its way for as long as an end is.
    (* hierconn *) wire \dut.unlocked_then.stage_1 , \dut.unlocked_then.stage_2 , \dut.unlocked_then.stage_3 , \dut.unlocked_then.q ;
    always @* if (started) assert (unlocked_then == {\dut.unlocked_then.q , \dut.unlocked_then.stage_3 , \dut.unlocked_then.stage_2 , \dut.unlocked_then.stage_1 });
    // An end is on its way: the drain is idle.
    (* hierconn *) wire \dut.intervals.pending_q ;
    (* hierconn *) wire [12:0] \dut.intervals.to_end.stage_1 , \dut.intervals.to_end.q ;
    wire [1:0] way = {\dut.intervals.to_end.q [0], \dut.intervals.to_end.stage_1 [0]};
    always @* if (started) begin
        assert (way != 3);
        assert (\dut.intervals.pending_q == (way != 0));
        if (way != 0) assert (state == 2);
    end
    // Cycles since the copies swapped, as far as they matter.
    reg [5:0] since = 40;
    always @(posedge clk) begin
        if (rst) since <= 40;
        else if (start) since <= 0;
        else if (since < 40) since <= since + 1;
    end
    wire [6:0] header = 4 * step + (state == 8 ? 3 : state == 7 ? 2 : state == 5);
    genvar g;
    generate for (g = 0; g < 28; g = g + 1) begin
        always @* if (started && since > g && copy != epoch) assert (!packets_here[g]);
    end endgenerate
    always @* if (started) begin
        assert (since <= 40 && state <= 8 && state != 3 && section <= 4 && running == (state >= 2));
        if (state < 2) assert (since == 40 && section == 0 && step == 0);
        assert (\dut.emitter.is_idle_q == (state == 2));
        if (state == 6) assert (section == 1);
        if (state >= 4 && section == 0) assert (step <= 16 && (since == 40 || since >= header));
        if (state >= 4 && section == 0) assert (\dut.emitter.header_step_q == 1 << step);
        if (state >= 4 && section != 0) assert (since == 40);
        if (state == 2) assert (section == 0 && step == 0);
        if (!running) assert (packets_here == 0);
    end
`endif
endmodule
