// lda_identity: every packet's way from its commit to its row and to its cell in each part of the identity table, with one
// packet in every cycle or in any other pattern.
//
// Proven, without bound on time, for any packets at any distances:
//   * the place is made of the key that comes a cycle before its packet, and is used six cycles behind the key;
//   * seven cycles behind a packet the rows and all parts are updated if its place is claimed, and never otherwise: in the copy
//     of its commit, in the cells that the digests of this cycle pick, with its own timestamp in the rows, and with
//     the check of this cycle and the digests of this cycle as fields, five cycles later, when the cells want them;
//   * a drain's address shows one word, that of its table, and clears that one alone, a cell behind its second word;
//   * a count that wraps in any of them is told, of its copy;
//   * the assumption of lda.v: a copy is cleared only when none of its updates was accepted in this cycle and the
//     six before. Even twelve are quiet.
//
// Assumed: a copy is cleared only when no packet of it was committed in this cycle and the twenty before (proven by
// aggregator.v), and tables that are updated together tell of wraps of the same copy (proven by lda.v: seven cycles behind the
// update). Place, digests and tables are cut out: their outputs are unconstrained. A reset may come at any time.
//
// Parameters: A, the width of an address; R, that of a row; T, that of a part's cell. One bank with a prefix of one bit.
`define MEMORY lda_identity_ram_macro
`include "memory.v"

module lda_identity_proof(
    input wire clk,
    input wire rst,
    input wire [543:0] key,
    input wire packet,
    input wire epoch,
    input wire [39:0] nanoseconds,
    input wire [`A-1:0] drain_address,
    input wire drain_epoch,
    input wire clear_first,
    input wire clear_second,
    input wire [127:0] masks,
    input wire ends
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire [71:0] drained_cell;
    wire overflow, overflow_epoch;
    wire [31:0] digest_sum;
    lda_identity dut(
        .clk(clk), .rst(rst), .key(key), .packet(packet), .epoch(epoch), .nanoseconds(nanoseconds), .mixing(95'd0),
        .masks(masks), .drain_address(drain_address), .drain_epoch(drain_epoch), .clear_first(clear_first),
        .clear_second(clear_second), .drained_cell(drained_cell), .overflow(overflow),
        .overflow_epoch(overflow_epoch), .ends(ends), .digest_sum(digest_sum)
    );
    (* hierconn *) wire [543:0] \dut.place_key , \dut.digest_0_key , \dut.digest_1_key , \dut.digest_2_key ;
    (* hierconn *) wire [31:0] \dut.place_value , \dut.digest_0_value , \dut.digest_1_value , \dut.digest_2_value ;
    (* hierconn *) wire \dut.rows_update , \dut.rows_epoch , \dut.rows_clear_0 , \dut.rows_clear_1 , \dut.rows_drain_epoch ;
    (* hierconn *) wire [`R-1:0] \dut.rows_address , \dut.rows_drain_address ;
    (* hierconn *) wire [39:0] \dut.rows_timestamp ;
    (* hierconn *) wire [71:0] \dut.rows_drained_cell ;
    (* hierconn *) wire \dut.rows_overflow , \dut.rows_overflow_epoch ;
    (* hierconn *) wire \dut.part_0.lda_update , \dut.part_1.lda_update , \dut.part_2.lda_update , \dut.part_3.lda_update ;
    (* hierconn *) wire \dut.part_0.lda_epoch , \dut.part_1.lda_epoch , \dut.part_2.lda_epoch , \dut.part_3.lda_epoch ;
    (* hierconn *) wire \dut.part_0.lda_clear_0 , \dut.part_1.lda_clear_0 , \dut.part_2.lda_clear_0 , \dut.part_3.lda_clear_0 ;
    (* hierconn *) wire \dut.part_0.lda_clear_1 , \dut.part_1.lda_clear_1 , \dut.part_2.lda_clear_1 , \dut.part_3.lda_clear_1 ;
    (* hierconn *) wire \dut.part_0.lda_drain_epoch , \dut.part_1.lda_drain_epoch , \dut.part_2.lda_drain_epoch , \dut.part_3.lda_drain_epoch ;
    (* hierconn *) wire \dut.part_0.lda_overflow , \dut.part_1.lda_overflow , \dut.part_2.lda_overflow , \dut.part_3.lda_overflow ;
    (* hierconn *) wire \dut.part_0.lda_overflow_epoch , \dut.part_1.lda_overflow_epoch , \dut.part_2.lda_overflow_epoch , \dut.part_3.lda_overflow_epoch ;
    (* hierconn *) wire [`T-1:0] \dut.part_0.lda_address , \dut.part_1.lda_address , \dut.part_2.lda_address , \dut.part_3.lda_address ;
    (* hierconn *) wire [`T-1:0] \dut.part_0.lda_drain_address , \dut.part_1.lda_drain_address , \dut.part_2.lda_drain_address , \dut.part_3.lda_drain_address ;
    (* hierconn *) wire [39:0] \dut.part_0.lda_timestamp , \dut.part_1.lda_timestamp , \dut.part_2.lda_timestamp , \dut.part_3.lda_timestamp ;
    (* hierconn *) wire [31:0] \dut.part_0.lda_field_0 , \dut.part_1.lda_field_0 , \dut.part_2.lda_field_0 , \dut.part_3.lda_field_0 ;
    (* hierconn *) wire [31:0] \dut.part_0.lda_field_1 , \dut.part_1.lda_field_1 , \dut.part_2.lda_field_1 , \dut.part_3.lda_field_1 ;
    (* hierconn *) wire [135:0] \dut.part_0.lda_drained_cell , \dut.part_1.lda_drained_cell , \dut.part_2.lda_drained_cell , \dut.part_3.lda_drained_cell ;
    wire [3:0] part_update = {\dut.part_3.lda_update , \dut.part_2.lda_update , \dut.part_1.lda_update , \dut.part_0.lda_update };
    wire [3:0] part_epoch = {\dut.part_3.lda_epoch , \dut.part_2.lda_epoch , \dut.part_1.lda_epoch , \dut.part_0.lda_epoch };
    wire [3:0] part_clear_0 = {\dut.part_3.lda_clear_0 , \dut.part_2.lda_clear_0 , \dut.part_1.lda_clear_0 , \dut.part_0.lda_clear_0 };
    wire [3:0] part_clear_1 = {\dut.part_3.lda_clear_1 , \dut.part_2.lda_clear_1 , \dut.part_1.lda_clear_1 , \dut.part_0.lda_clear_1 };
    wire [3:0] part_drain_epoch = {\dut.part_3.lda_drain_epoch , \dut.part_2.lda_drain_epoch , \dut.part_1.lda_drain_epoch , \dut.part_0.lda_drain_epoch };
    wire [3:0] part_overflow = {\dut.part_3.lda_overflow , \dut.part_2.lda_overflow , \dut.part_1.lda_overflow , \dut.part_0.lda_overflow };
    wire [3:0] part_overflow_epoch = {\dut.part_3.lda_overflow_epoch , \dut.part_2.lda_overflow_epoch , \dut.part_1.lda_overflow_epoch , \dut.part_0.lda_overflow_epoch };
    wire [4*`T-1:0] part_address = {\dut.part_3.lda_address , \dut.part_2.lda_address , \dut.part_1.lda_address , \dut.part_0.lda_address };
    wire [4*`T-1:0] part_drain_address = {\dut.part_3.lda_drain_address , \dut.part_2.lda_drain_address , \dut.part_1.lda_drain_address , \dut.part_0.lda_drain_address };
    wire [159:0] part_timestamp = {\dut.part_3.lda_timestamp , \dut.part_2.lda_timestamp , \dut.part_1.lda_timestamp , \dut.part_0.lda_timestamp };
    wire [127:0] part_upper = {\dut.part_3.lda_field_0 , \dut.part_2.lda_field_0 , \dut.part_1.lda_field_0 , \dut.part_0.lda_field_0 };
    wire [127:0] part_lower = {\dut.part_3.lda_field_1 , \dut.part_2.lda_field_1 , \dut.part_1.lda_field_1 , \dut.part_0.lda_field_1 };
    wire [543:0] part_drained = {\dut.part_3.lda_drained_cell , \dut.part_2.lda_drained_cell , \dut.part_1.lda_drained_cell , \dut.part_0.lda_drained_cell };

    // The packets of the last cycles: index i came i + 1 cycles ago. The place of two cycles ago, the digests of five.
    reg [6:0] packets = 0, epochs;
    reg [279:0] stamps;
    reg [63:0] places;
    reg [159:0] checks, uppers, lowers;
    reg [4:0] updates = 0;
    always @(posedge clk) begin
        packets <= rst ? 0 : {packets[5:0], packet};
        epochs <= {epochs[5:0], epoch};
        stamps <= {stamps[239:0], nanoseconds};
        places <= {places[31:0], \dut.place_value };
        checks <= {checks[127:0], \dut.digest_0_value };
        uppers <= {uppers[127:0], \dut.digest_1_value };
        lowers <= {lowers[127:0], \dut.digest_2_value };
        updates <= rst ? 0 : {updates[3:0], update};
    end
    wire update = packets[6] && !places[63];

    always @* if (started) begin
        assert (\dut.place_key == key && \dut.digest_0_key == key && \dut.digest_1_key == key && \dut.digest_2_key == key);
        assert (part_update == {4{update}});
        assert (\dut.rows_update == update);
        if (update) begin
            assert (part_epoch == {4{epochs[6]}});
            assert (part_address == {\dut.digest_2_value [`T-1:0], \dut.digest_2_value [16+:`T], \dut.digest_1_value [`T-1:0], \dut.digest_1_value [16+:`T]});
            assert (part_timestamp == {4{8'd0, \dut.digest_0_value }});
            assert (\dut.rows_epoch == epochs[6] && \dut.rows_timestamp == stamps[279:240]);
            assert (\dut.rows_address == \dut.digest_2_value [`R-1:0]);
        end
        if (updates[4]) assert (part_upper == {4{uppers[159:128]}} && part_lower == {4{lowers[159:128]}});
    end

    // The drain: a quarter of all words are the rows; each part has half as many, two words a cell.
    wire is_rows = drain_address[`A-1:`A-2] == 0;
    wire is_second = drain_address[0];
    wire [71:0] part_words [0:3];
    wire [3:0] is_part;
    genvar g;
    generate for (g = 0; g < 4; g = g + 1) begin
        assign is_part[g] = drain_address[`A-1:`A-3] == 2 + g;
        assign part_words[g] = is_second ? {part_drained[136*g+72+:32], 8'd0, part_drained[136*g+104+:32]} : part_drained[136*g+:72];
    end endgenerate
    wire [71:0] shown = is_rows ? \dut.rows_drained_cell : is_part[0] ? part_words[0] : is_part[1] ? part_words[1]
        : is_part[2] ? part_words[2] : is_part[3] ? part_words[3] : 72'd0;
    always @* if (started) begin
        assert (drained_cell == shown);
        assert (\dut.rows_drain_address == drain_address[`R-1:0] && \dut.rows_drain_epoch == drain_epoch);
        assert (part_drain_address == {4{drain_address[`T:1]}} && part_drain_epoch == {4{drain_epoch}});
        assert ({\dut.rows_clear_1 , \dut.rows_clear_0 } == (is_rows ? {clear_second, clear_first} : 2'd0));
        assert (part_clear_0 == (clear_first && is_second ? is_part : 4'd0));
        assert (part_clear_1 == (clear_second && is_second ? is_part : 4'd0));
    end

    // Wraps.
    wire [4:0] wraps = {\dut.rows_overflow , part_overflow};
    wire [4:0] wraps_epoch = {\dut.rows_overflow_epoch , part_overflow_epoch};
    (* anyseq *) wire wrapped_copy;
    always @* assume ((wraps & (wraps_epoch ^ {5{wrapped_copy}})) == 0);
    always @* if (started) assert (overflow == |wraps && (!overflow || overflow_epoch == wrapped_copy));

    // The quiet time before a clear, in an arbitrary copy.
    (* anyconst *) wire copy;
    wire clear = copy ? clear_second : clear_first;
    wire packet_here = packet && epoch == copy;
    wire update_here = part_update[0] && part_epoch[0] == copy;
    reg [19:0] packets_here = 0;
    reg [11:0] updates_here = 0;
    always @(posedge clk) begin
        packets_here <= rst ? 0 : {packets_here[18:0], packet_here};
        updates_here <= rst ? 0 : {updates_here[10:0], update_here};
    end
    always @* if (clear) assume (!packet_here && packets_here == 0);
    always @* if (started && clear) assert (!update_here && updates_here == 0);

    always @* if (started) begin
        cover (&packets && update && epochs == 7'b1010101 && stamps[39:0] != stamps[279:240]);
        cover (packets == 7'b1000000 && update);
        cover (packets[6] && !update);
        cover (updates == 5'b10001 && update);
        cover (&updates_here && packets_here[7:0] == 8'hff);
        cover (clear && update);
        cover (wraps == 1);
        cover (&wraps && overflow_epoch);
    end
endmodule
