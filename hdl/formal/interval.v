// interval: drains never overlap, no end is lost without a report, and the epoch changes exactly with a drain.
//
// Proven, without bound on time, for any inputs:
//   * start_drain comes only while running and not drain_busy: two drains never overlap;
//   * every interval_end is answered LATENCY cycles later by exactly one of start_drain, and refused when the drain
//     is busy, unless the core is not running then; with the clock's ends off nothing else is answered;
//   * the epoch changes behind every start_drain and at no other time; number tells the intervals apart: it is the
//     count of the drains before.
//
// Assumed: nothing but a reset at the start; it may come again at any time.
//
// It looks at the ports alone, so that induction must span the latency.
`define LATENCY 7

module interval_proof(
    input wire clk,
    input wire rst,
    input wire interval_end,
    input wire [5:0] interval_log2,
    input wire [63:0] ptp_ts,
    input wire running,
    input wire drain_busy
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire epoch, start_drain, refused, timed;
    wire [31:0] number;
    core_interval dut(
        .clk(clk), .rst(rst), .interval_end(interval_end), .interval_log2(interval_log2), .ptp_ts(ptp_ts),
        .running(running), .drain_busy(drain_busy), .epoch(epoch), .number(number), .start_drain(start_drain),
        .refused(refused), .timed(timed)
    );

    // The last cycles, as far back as the last reset.
    reg [`LATENCY-1:0] asked = 0, by_clock = 0;
    reg [31:0] drains = 0;
    reg rst_before = 1, epoch_before, start_before;
    reg [31:0] number_before;
    always @(posedge clk) begin
        asked <= rst ? 0 : {asked[`LATENCY-2:0], interval_end};
        by_clock <= rst ? 0 : {by_clock[`LATENCY-2:0], interval_log2 != 0};
        drains <= rst ? 0 : drains + start_drain;
        {rst_before, epoch_before, start_before, number_before} <= {rst, epoch, start_drain, number};
    end

    always @* if (started) begin
        if (start_drain) assert (running && !drain_busy && !refused);
        if (refused) assert (running && drain_busy);
        if (asked[`LATENCY-1] && running) assert (start_drain || refused);
        if (!asked[`LATENCY-1] && by_clock == 0) assert (!start_drain && !refused);
        if (rst_before) assert (epoch == 0 && number == 0);
        else begin
            assert (epoch == (epoch_before ^ start_before));
            assert (number == (start_before ? drains - 1 : number_before));
        end
    end
    always @* begin
        if (started) cover (start_drain && epoch && !timed);
        if (started) cover (start_drain && timed);
        if (started) cover (refused);
        if (started) cover (number == 2);
    end

`ifdef INVARIANTS
    (* hierconn *) wire [31:0] \dut.count_q ;
    always @* if (started) assert (\dut.count_q == drains);
`endif
endmodule
