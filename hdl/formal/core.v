// core: what the proofs of lda and emitter assume of each other holds in the core.
//
// Proven, without bound on time, for any traffic and any interval ends:
//   * a copy is cleared only when none of its updates was accepted in this cycle and the six before; nor is any
//     accepted from then on until the copies swap: the drain has its port for itself, and what it shows is complete;
//   * the drain's clear reaches the idle copy, and only it; the clear behind a reset reaches both;
//   * the drain's address stays for a cycle behind a clear; drains never overlap, and no copy changes its role in one;
//   * both copies are cleared before anything counts;
//   * a packet's cell is updated three cycles behind its commit, in the copy whose totals counted it, with its own
//     timestamp, or not at all (not sampled); no cell is updated without a packet.
//
// Assumed: measured frames end at least four cycles apart, which follows from their length.
// The identity stage, the hash, the totals and the lda are cut out: their outputs are anything.
//
// Parameters: A, the width of an address.
module core_proof(
    input wire clk,
    input wire rst,
    input wire interval_end,
    input wire [5:0] interval_log2,
    input wire [63:0] ptp_ts,
    input wire ptp_locked,
    input wire receiver,
    input wire m_axis_tready
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);
`ifdef TRACE
    always @* assume (rst == !started && m_axis_tready);
`endif
    wire running;
    core dut(
        .clk(clk), .rst(rst), .interval_end(interval_end), .interval_log2(interval_log2), .ptp_ts(ptp_ts),
        .ptp_locked(ptp_locked), .receiver(receiver), .m_axis_tready(m_axis_tready), .running(running)
    );

    // The lda's ports, and what the commit tells the totals.
    (* hierconn *) wire \dut.lda_update , \dut.lda_epoch , \dut.lda_clear_0 , \dut.lda_clear_1 , \dut.lda_drain_epoch ;
    (* hierconn *) wire [`A-1:0] \dut.lda_drain_address ;
    (* hierconn *) wire [39:0] \dut.lda_timestamp ;
    (* hierconn *) wire \dut.totals_0_packet , \dut.totals_1_packet , \dut.interval_start_drain , \dut.emitter_busy ;
    (* hierconn *) wire [63:0] \dut.identity_timestamp ;
    (* hierconn *) wire \dut.emitter_clear , \dut.emitter_clear_all ;
    (* anyconst *) wire copy;
    wire update = \dut.lda_update && \dut.lda_epoch == copy;
    wire clear = copy ? \dut.lda_clear_1 : \dut.lda_clear_0 ;
    wire either = \dut.totals_0_packet || \dut.totals_1_packet ;

    // The last cycles: updates of this copy, packets and their copy and time, clears.
    reg [11:0] updates = 0;
    reg [2:0] packets = 0, packet_copy;
    reg [39:0] stamp;
    reg rst_before = 1, clear_before, busy_before, drain_epoch_before, start_before;
    reg [`A-1:0] address_before;
    reg cleared = 0;
    always @(posedge clk) begin
        updates <= rst ? 0 : {updates[10:0], update};
        packets <= rst ? 0 : {packets[1:0], either};
        packet_copy <= {packet_copy[1:0], \dut.totals_1_packet };
        if (either) stamp <= \dut.identity_timestamp [55:16];
        {rst_before, clear_before, busy_before, start_before} <= {rst, clear, \dut.emitter_busy , \dut.interval_start_drain };
        {drain_epoch_before, address_before} <= {\dut.lda_drain_epoch , \dut.lda_drain_address };
    end
    always @* if (either) assume (packets == 0);

    always @* if (started) begin
        if (clear) assert (!update && updates == 0);
        assert (clear == (\dut.emitter_clear_all || (\dut.emitter_clear && \dut.lda_drain_epoch == copy)));
        if (!rst_before && clear_before) assert (\dut.lda_drain_address == address_before);
        if (\dut.interval_start_drain ) assert (!\dut.emitter_busy && running);
        if (!rst_before && start_before) assert (\dut.emitter_busy );
        if (!rst_before && !start_before) assert (\dut.lda_drain_epoch == drain_epoch_before);
        if (!running) assert (!either && !\dut.lda_update );
        assert (!(\dut.totals_0_packet && \dut.totals_1_packet ));
        if (\dut.lda_update ) begin
            assert (packets[2] && \dut.lda_epoch == packet_copy[2] && \dut.lda_timestamp == stamp);
        end
    end
    always @* if (started) begin
        cover (running);
        cover (\dut.lda_update && \dut.lda_epoch );
        cover (updates[3] && \dut.lda_update );
        cover (clear && running && \dut.lda_update );
    end

`ifdef INVARIANTS
    (* hierconn *) wire [3:0] \dut.emitter.state_q , \dut.emitter.step_q ;
    (* hierconn *) wire [2:0] \dut.emitter.section_q ;
    (* hierconn *) wire \dut.hash_epoch_0_q , \dut.hash_epoch_1_q , \dut.hash_epoch_2_q , \dut.hashing_0_q , \dut.hashing_1_q ;
    (* hierconn *) wire \dut.interval_epoch ;
    (* hierconn *) wire [39:0] \dut.timestamp_q ;
    wire [3:0] state = \dut.emitter.state_q ;
    wire [3:0] step = \dut.emitter.step_q ;
    wire [2:0] section = \dut.emitter.section_q ;
    wire epoch = \dut.interval_epoch ;
    // Cycles since the copies swapped, as far as it matters.
    reg [5:0] since = 40;
    always @(posedge clk) begin
        if (rst) since <= 40;
        else if (\dut.interval_start_drain ) since <= 0;
        else if (since < 40) since <= since + 1;
    end
    wire [5:0] header = 4 * step + (state == 8 ? 3 : state == 7 ? 2 : state == 5);
    wire [11:0] idle_updates = copy != epoch ? updates : 0;
    genvar g;
    generate for (g = 0; g < 12; g = g + 1) begin
        always @* if (started && since >= 4 + g) assert (!idle_updates[g]);
    end endgenerate
    always @* if (started) begin
        assert (since <= 40 && state <= 9 && state != 3 && section <= 4 && running == (state >= 2));
        if (state < 2) assert (since == 40 && section == 0 && step == 0);
        if (state == 6) assert (section == 1);
        if (state >= 4 && section == 0 && state != 9) assert (step <= 11 && (since == 40 || since >= header));
        if (state >= 4 && section != 0) assert (since == 40);
        if (state == 2) assert (section == 0 && step == 0);
        if (since >= 1) assert (\dut.hash_epoch_0_q == epoch);
        if (since >= 2) assert (\dut.hash_epoch_1_q == epoch);
        if (since >= 3) assert (\dut.hash_epoch_2_q == epoch);
        if (!running) assert (packets == 0 && updates == 0);
        assert (\dut.hashing_0_q == packets[0] && \dut.hashing_1_q == packets[1]);
        if (packets[0]) assert (\dut.hash_epoch_0_q == packet_copy[0]);
        if (packets[1]) assert (\dut.hash_epoch_1_q == packet_copy[1]);
        if (packets != 0) assert (\dut.timestamp_q == stamp && (packets & (packets - 1)) == 0);
    end
`endif
endmodule
