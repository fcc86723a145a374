// lda: no update is lost, doubled or misplaced, and the drain shows and clears the right cell.
//
// Proven, for an arbitrary word of an arbitrary copy, without bound on time:
//   * the stored cell is the sum of exactly those updates of this word and copy that were accepted since its last
//     clear, up to six cycles ago (lower half) or seven (upper half, digests). That holds for any sequence of
//     updates, one a cycle, to any words and copies;
//   * drained_cell shows it four cycles after the drain's address settled;
//   * a clear leaves zero, and affects no other cell;
//   * overflow reports exactly that this word's count wrapped, seven cycles after the update.
//
// Assumed: what lda's port table requires of the drain, which lane.v and aggregator.v prove for the core.
//   * a copy is cleared only when no update of it was accepted in this cycle and the six before;
//   * the drain's address stays for a cycle after a clear. A reset may come at any time. After it the stored cell
//     is arbitrary, and the bookkeeping starts from there, or from zero when the cell is cleared.
//
// Parameters: A, the width of an address; DIGESTS, cells with a digest sum of two halves of 16 bits. The memories
// are the contract of memory.v, so everything else about them is unconstrained.
`define MEMORY lda_ram_macro
`include "memory.v"

module lda_proof(
    input wire clk,
    input wire rst,
    input wire update,
    input wire epoch,
    input wire [`A-1:0] address,
    input wire [39:0] timestamp,
`ifdef DIGESTS
    input wire [31:0] digest,
`endif
    input wire [`A-1:0] drain_address,
    input wire drain_epoch,
    input wire clear_0,
    input wire clear_1,
    input wire adopt
);
    wire overflow, overflow_epoch;
`ifdef DIGESTS
    wire [103:0] drained_cell;
`else
    wire [71:0] drained_cell;
`endif
    lda dut(
`ifdef DIGESTS
        .field_0(digest),
`endif
        .clk(clk), .rst(rst), .update(update), .epoch(epoch), .address(address), .timestamp(timestamp),
        .overflow(overflow), .overflow_epoch(overflow_epoch), .drain_address(drain_address),
        .drain_epoch(drain_epoch), .clear_0(clear_0), .clear_1(clear_1), .drained_cell(drained_cell)
    );

    // The chosen cell.
    (* anyconst *) wire chosen_copy;
    (* anyconst *) wire [`A-1:0] chosen;
    (* hierconn *) wire [`A-1:0] \dut.lower.ram_0.words.chosen , \dut.lower.ram_1.words.chosen ;
    (* hierconn *) wire [`A-1:0] \dut.upper.ram_0.words.chosen , \dut.upper.ram_1.words.chosen ;
    always @* begin
        assume (\dut.lower.ram_0.words.chosen == chosen);
        assume (\dut.lower.ram_1.words.chosen == chosen);
        assume (\dut.upper.ram_0.words.chosen == chosen);
        assume (\dut.upper.ram_1.words.chosen == chosen);
    end
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    // The updates of the last cycles: index i was accepted i + 1 cycles ago.
    reg [7:0] valid = 0, copy = 0;
    reg [`A-1:0] word [0:7];
    reg [39:0] time_of [0:7];
    reg clear_before = 0;
    reg [`A-1:0] drain_before;
    wire clear = chosen_copy ? clear_1 : clear_0;
    always @(posedge clk) begin
        valid <= rst ? 0 : {valid[6:0], update};
        copy <= {copy[6:0], epoch};
        clear_before <= !rst && clear;
        drain_before <= drain_address;
    end
    wire [7:0] hit;
    genvar g;
    generate for (g = 0; g < 8; g = g + 1) begin
        always @(posedge clk) word[g] <= g == 0 ? address : word[g - (g > 0)];
        always @(posedge clk) time_of[g] <= g == 0 ? timestamp : time_of[g - (g > 0)];
        assign hit[g] = valid[g] && copy[g] == chosen_copy && word[g] == chosen;
    end endgenerate

    // Assumptions.
    always @* begin
        if (clear) assume (!(update && epoch == chosen_copy));
        if (clear) assume (!(valid[5:0] & ~(copy[5:0] ^ {6{chosen_copy}})));
        if (clear_before) assume (drain_address == drain_before);
    end
`ifdef TRACE
    // A planted fault is searched for with few timestamps, all of whose sums carry.
    always @* assume (timestamp == {40{timestamp[0]}});
`endif

    // The reference: index i holds the cell with the updates of index i and older.
    reg known = 0;
    reg [31:0] count [0:7];
    reg [39:0] sum [0:7];
    wire accepted = update && epoch == chosen_copy && address == chosen;
    wire cleared = clear && drain_address == chosen;
    // No update is under way to the cell: its bookkeeping may start.
    wire adopted = adopt && started && !known && !hit && !accepted && !clear && !clear_before && settled == 0;
    always @(posedge clk) known <= !rst && (known || cleared || adopted);
    wire [35:0] lower [0:7], upper [0:7];
    generate for (g = 0; g < 8; g = g + 1) begin
        always @(posedge clk) begin
            if (cleared) {count[g], sum[g]} <= 0;
            else if (adopted) {count[g], sum[g]} <= stored;
            else if (g > 0) {count[g], sum[g]} <= {count[g - (g > 0)], sum[g - (g > 0)]};
            else if (accepted) {count[g], sum[g]} <= {count[g] + 32'd1, sum[g] + timestamp};
        end
        assign lower[g] = {count[g][15:0], sum[g][19:0]};
        assign upper[g] = {count[g][31:16], sum[g][39:20]};
    end endgenerate

`ifdef DIGESTS
    // The same for the digests, which come five cycles after their updates: index i holds the updates of index i +
    // 5 and older.
    reg [31:0] digests [0:2];
    wire [31:0] digests_with = {digests[0][31:16] + digest[31:16], digests[0][15:0] + digest[15:0]};
    always @(posedge clk) begin
        if (cleared) {digests[0], digests[1], digests[2]} <= 0;
        else if (adopted) {digests[0], digests[1], digests[2]} <= {3{digest_held}};
        else {digests[0], digests[1], digests[2]} <= {hit[4] ? digests_with : digests[0], digests[0], digests[1]};
    end
    (* hierconn *) wire [`A-1:0] \dut.fields_0.ram_0.words.chosen , \dut.fields_0.ram_1.words.chosen ;
    (* hierconn *) wire [31:0] \dut.fields_0.ram_0.words.held , \dut.fields_0.ram_1.words.held ;
    wire [31:0] digest_held = chosen_copy ? \dut.fields_0.ram_1.words.held : \dut.fields_0.ram_0.words.held ;
    always @* begin
        assume (\dut.fields_0.ram_0.words.chosen == chosen);
        assume (\dut.fields_0.ram_1.words.chosen == chosen);
        if (known && upper_settled) assert (digest_held == digests[1]);
        if (known && settled == 4 && drain_epoch == chosen_copy && !hit) assert (drained_cell[103:72] == digests[0]);
        cover (known && settled == 4 && drain_epoch == chosen_copy && !hit && count[0] == 2
            && digests[0] == 32'h0001_fffe);
    end
`endif

    // The stored cell.
    (* hierconn *) wire [35:0] \dut.lower.ram_0.words.held , \dut.lower.ram_1.words.held ;
    (* hierconn *) wire [35:0] \dut.upper.ram_0.words.held , \dut.upper.ram_1.words.held ;
    wire [35:0] lower_held = chosen_copy ? \dut.lower.ram_1.words.held : \dut.lower.ram_0.words.held ;
    wire [35:0] upper_held = chosen_copy ? \dut.upper.ram_1.words.held : \dut.upper.ram_0.words.held ;
    wire [71:0] stored = {upper_held[35:20], lower_held[35:20], upper_held[19:0], lower_held[19:0]};
    // The upper half is cleared a cycle later.
    wire upper_settled = !(clear_before && drain_before == chosen);
    always @* if (known) begin
        assert (lower_held == lower[5]);
        assert (!upper_settled || upper_held == upper[6]);
    end

    // The drain: settled counts the cycles for which its address has been the chosen one and its port free.
    reg [2:0] settled = 0;
    always @(posedge clk) begin
        if (rst || clear || drain_address != chosen || (update && epoch == chosen_copy)) settled <= 0;
        else if (settled < 4) settled <= settled + 1;
    end
    always @* if (known && settled == 4 && drain_epoch == chosen_copy && !hit) begin
        assert (drained_cell[71:0] == {count[0], sum[0]});
    end

    // The overflow of an update seven cycles ago.
    wire lasting = known && hit[6];
    always @* begin
        if (lasting) assert (overflow == !count[6] && (!overflow || overflow_epoch == chosen_copy));
        if (started && !valid[6]) assert (!overflow);
    end

    always @* begin
        cover (known && hit == 8'hff);
        cover (known && hit[0] && valid[1] && !hit[1] && copy[1] != chosen_copy && hit[2]);
        cover (known && settled == 4 && drain_epoch == chosen_copy && !hit && count[0] == 2 && sum[0][39:20]);
        cover (known && clear && update);
        cover (lasting && overflow);
        cover (known && clear_before && drain_before == chosen && valid[0]);
    end

`ifdef INVARIANTS
    // Invariants for induction: the pipeline's registers agree with the history.
    (* hierconn *) wire \dut.valid_0_q , \dut.valid_1_q , \dut.valid_2_q , \dut.valid_3_q , \dut.valid_4_q , \dut.valid_5_q ;
    (* hierconn *) wire \dut.copy_0_q , \dut.copy_1_q , \dut.copy_2_q , \dut.copy_3_q , \dut.copy_4_q , \dut.copy_5_q ;
    (* hierconn *) wire [`A-1:0] \dut.word_0_q , \dut.word_1_q , \dut.word_2_q , \dut.word_3_q , \dut.word_4_q , \dut.word_5_q ;
    (* hierconn *) wire [39:0] \dut.nanoseconds_0_q , \dut.nanoseconds_1_q , \dut.nanoseconds_2_q , \dut.nanoseconds_3_q , \dut.nanoseconds_4_q ;
    (* hierconn *) wire \dut.clearing_0_q , \dut.clearing_1_q ;
    always @* if (started) begin
        assert ({\dut.valid_5_q , \dut.valid_4_q , \dut.valid_3_q , \dut.valid_2_q , \dut.valid_1_q , \dut.valid_0_q } == valid[5:0]);
        assert ((chosen_copy ? \dut.clearing_1_q : \dut.clearing_0_q ) == clear_before);
    end
    always @* begin
        if (valid[0]) assert ({\dut.copy_0_q , \dut.word_0_q , \dut.nanoseconds_0_q } == {copy[0], word[0], time_of[0]});
        if (valid[1]) assert ({\dut.copy_1_q , \dut.word_1_q , \dut.nanoseconds_1_q } == {copy[1], word[1], time_of[1]});
        if (valid[2]) assert ({\dut.copy_2_q , \dut.word_2_q , \dut.nanoseconds_2_q } == {copy[2], word[2], time_of[2]});
        if (valid[3]) assert ({\dut.copy_3_q , \dut.word_3_q , \dut.nanoseconds_3_q } == {copy[3], word[3], time_of[3]});
        if (valid[4]) assert ({\dut.copy_4_q , \dut.word_4_q , \dut.nanoseconds_4_q } == {copy[4], word[4], time_of[4]});
        if (valid[5]) assert ({\dut.copy_5_q , \dut.word_5_q } == {copy[5], word[5]});
    end

    // Hazards: an update against the ones ahead of it.
    (* hierconn *) wire \dut.hazard_1_0_q , \dut.hazard_1_1_q , \dut.hazard_1_2_q , \dut.hazard_1_3_q ;
    (* hierconn *) wire \dut.hazard_2_0_q , \dut.hazard_2_1_q , \dut.hazard_2_2_q ;
    (* hierconn *) wire \dut.hazard_3_0_q , \dut.hazard_3_1_q , \dut.hazard_3_2_q ;
    (* hierconn *) wire \dut.hazard_4_0_q , \dut.hazard_4_1_q , \dut.hazard_4_2_q ;
    always @* begin
        if (hit[1]) assert ({\dut.hazard_4_0_q , \dut.hazard_3_0_q , \dut.hazard_2_0_q , \dut.hazard_1_0_q } == hit[5:2]);
        if (hit[2]) assert ({\dut.hazard_4_1_q , \dut.hazard_3_1_q , \dut.hazard_2_1_q , \dut.hazard_1_1_q } == hit[6:3]);
        if (hit[3]) assert ({\dut.hazard_4_2_q , \dut.hazard_3_2_q , \dut.hazard_2_2_q , \dut.hazard_1_2_q } == hit[7:4]);
        if (hit[4]) assert (\dut.hazard_1_3_q == hit[5]);
    end

    // The reference's steps differ by the updates between them.
    generate for (g = 0; g < 7; g = g + 1) begin
        always @* if (known && hit[g]) assert ({count[g], sum[g]} == {count[g + 1] + 32'd1, sum[g + 1] + time_of[g]});
        always @* if (known && !hit[g]) assert ({count[g], sum[g]} == {count[g + 1], sum[g + 1]});
    end endgenerate

    // Lower half.
    (* hierconn *) wire [`A-1:0] \dut.read_address_0_q , \dut.read_address_1_q , \dut.read_address_2_q , \dut.read_address_3_q ;
    wire [`A-1:0] lower_address = chosen_copy ? \dut.read_address_1_q : \dut.read_address_0_q ;
    wire [`A-1:0] upper_address = chosen_copy ? \dut.read_address_3_q : \dut.read_address_2_q ;
    (* hierconn *) wire [35:0] \dut.lower.ram_0.read_data , \dut.lower.ram_1.read_data , \dut.lower.read_out_0_q , \dut.lower.read_out_1_q ;
    wire [35:0] lower_read = chosen_copy ? \dut.lower.ram_1.read_data : \dut.lower.ram_0.read_data ;
    wire [35:0] lower_out = chosen_copy ? \dut.lower.read_out_1_q : \dut.lower.read_out_0_q ;
    (* hierconn *) wire [35:0] \dut.lower.operand_q , \dut.lower.result_q , \dut.lower.result_older_q , \dut.lower.result_oldest_q ;
    (* hierconn *) wire \dut.sum_carry_q , \dut.count_carry_q ;
    wire [20:0] low_sum = sum[5][19:0] + time_of[4][19:0];
    always @* if (known) begin
        if (hit[0] || settled > 0) assert (lower_address == chosen);
        if ((hit[1] || settled > 1) && !hit[5]) assert (lower_read == lower[5]);
        if ((hit[2] || settled > 2) && !hit[6]) assert (lower_out == lower[6]);
        if (hit[3] && !hit[4]) assert (\dut.lower.operand_q == lower[4]);
        if (hit[4]) assert (\dut.lower.result_q == lower[4]);
        if (hit[4]) assert (\dut.sum_carry_q == low_sum[20]);
        if (hit[4]) assert (\dut.count_carry_q == &count[5][15:0]);
        if (hit[5]) assert (\dut.lower.result_older_q == lower[5]);
        if (hit[6] && hit[2]) assert (\dut.lower.result_oldest_q == lower[6]);
    end

    // Upper half, a cycle later.
    (* hierconn *) wire [35:0] \dut.upper.ram_0.read_data , \dut.upper.ram_1.read_data , \dut.upper.read_out_0_q , \dut.upper.read_out_1_q ;
    wire [35:0] upper_read = chosen_copy ? \dut.upper.ram_1.read_data : \dut.upper.ram_0.read_data ;
    wire [35:0] upper_out = chosen_copy ? \dut.upper.read_out_1_q : \dut.upper.read_out_0_q ;
    (* hierconn *) wire [35:0] \dut.upper.operand_q , \dut.upper.result_q , \dut.upper.result_older_q , \dut.upper.result_oldest_q ;
    (* hierconn *) wire \dut.count_wraps_q ;
    always @* if (known) begin
        if (hit[1] || settled > 1) assert (upper_address == chosen);
        if ((hit[2] || settled > 2) && !hit[6]) assert (upper_read == upper[6]);
        if ((hit[3] || settled > 3) && !hit[7]) assert (upper_out == upper[7]);
        if (hit[4] && !hit[5]) assert (\dut.upper.operand_q == upper[5]);
        if (hit[5]) assert (\dut.upper.result_q == upper[5]);
        if (hit[5]) assert (\dut.count_wraps_q == &count[6]);
        if (hit[6] && hit[2]) assert (\dut.upper.result_older_q == upper[6]);
        if (hit[7] && hit[3]) assert (\dut.upper.result_oldest_q == upper[7]);
    end

`ifdef DIGESTS
    // Digests, in step with the upper half.
    (* hierconn *) wire [31:0] \dut.fields_0.ram_0.read_data , \dut.fields_0.ram_1.read_data ;
    (* hierconn *) wire [31:0] \dut.fields_0.read_out_0_q , \dut.fields_0.read_out_1_q ;
    wire [31:0] digest_read = chosen_copy ? \dut.fields_0.ram_1.read_data : \dut.fields_0.ram_0.read_data ;
    wire [31:0] digest_out = chosen_copy ? \dut.fields_0.read_out_1_q : \dut.fields_0.read_out_0_q ;
    (* hierconn *) wire [31:0] \dut.fields_0.operand_q , \dut.fields_0.result_q ;
    (* hierconn *) wire [31:0] \dut.fields_0.result_older_q , \dut.fields_0.result_oldest_q ;
    always @* if (known) begin
        if (!hit[5]) assert (digests[0] == digests[1]);
        if (!hit[6]) assert (digests[1] == digests[2]);
        if ((hit[2] || settled > 2) && !hit[6]) assert (digest_read == digests[1]);
        if ((hit[3] || settled > 3) && !hit[7]) assert (digest_out == digests[2]);
        if (hit[4] && !hit[5]) assert (\dut.fields_0.operand_q == digests[0]);
        if (hit[5]) assert (\dut.fields_0.result_q == digests[0]);
        if (hit[6] && hit[2]) assert (\dut.fields_0.result_older_q == digests[1]);
        if (hit[7] && hit[3]) assert (\dut.fields_0.result_oldest_q == digests[2]);
    end
`endif
`endif
endmodule
