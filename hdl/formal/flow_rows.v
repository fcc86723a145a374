// flow_rows: every packet's way from its commit to its cell in each of the four rows, with one packet in every
// cycle or in any other pattern.
//
// Proven, without bound on time, for any packets at any distances:
//   * place and flow are made of the key that comes a cycle before its packet; the flow's hash is that of the flow;
//   * each row's base is made of its own 32 bits of the flow's hash;
//   * seven cycles behind a packet all rows are updated if its place is claimed, and never otherwise: in the copy
//     of its commit, in the columns that are the bases of the cycle before plus the offset of the place of two cycles before, modulo the row,
//     with its own timestamp, and with the digest of this cycle as field, five cycles later, when the cells want it;
//   * a drain's address shows one cell, that of its row, and clears that one alone, all of it;
//   * a count that wraps in any of them is told, of its copy;
//   * the assumption of lda.v: a copy is cleared only when none of its updates was accepted in this cycle and the
//     six before. Even twelve are quiet.
//
// Assumed: a copy is cleared only when no packet of it was committed in this cycle and the twenty before (proven by
// aggregator.v), and tables that are updated together tell of wraps of the same copy (proven by lda.v: seven cycles behind the
// update). Place, flow key, hash, rounds, digest and tables are cut out: their outputs are unconstrained. A reset may come at any time.
//
// Parameters: A, the width of an address; R, that of a column. One bank with a prefix of one bit.
`define MEMORY flow_rows_ram_macro
`include "memory.v"

module flow_rows_proof(
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

    wire [103:0] drained_cell;
    wire overflow, overflow_epoch;
    wire [31:0] digest_sum;
    flow_rows dut(
        .clk(clk), .rst(rst), .key(key), .packet(packet), .epoch(epoch), .nanoseconds(nanoseconds), .mixing(95'd0),
        .masks(masks), .drain_address(drain_address), .drain_epoch(drain_epoch), .clear_first(clear_first),
        .clear_second(clear_second), .drained_cell(drained_cell), .overflow(overflow),
        .overflow_epoch(overflow_epoch), .ends(ends), .digest_sum(digest_sum)
    );
    (* hierconn *) wire [543:0] \dut.place_key , \dut.digest_key , \dut.flow_key_key , \dut.flow_key_flow , \dut.flow_hash_0_key , \dut.flow_hash_1_key ;
    (* hierconn *) wire [31:0] \dut.place_value , \dut.digest_value , \dut.flow_hash_0_bits , \dut.flow_hash_1_bits ;
    (* hierconn *) wire [15:0] \dut.base_0_x , \dut.base_1_x , \dut.base_2_x , \dut.base_3_x , \dut.base_0_y , \dut.base_1_y , \dut.base_2_y , \dut.base_3_y ;
    (* hierconn *) wire [`R-1:0] \dut.base_0_column , \dut.base_1_column , \dut.base_2_column , \dut.base_3_column ;
    (* hierconn *) wire \dut.table_0.lda_update , \dut.table_1.lda_update , \dut.table_2.lda_update , \dut.table_3.lda_update ;
    (* hierconn *) wire \dut.table_0.lda_epoch , \dut.table_1.lda_epoch , \dut.table_2.lda_epoch , \dut.table_3.lda_epoch ;
    (* hierconn *) wire \dut.table_0.lda_clear_0 , \dut.table_1.lda_clear_0 , \dut.table_2.lda_clear_0 , \dut.table_3.lda_clear_0 ;
    (* hierconn *) wire \dut.table_0.lda_clear_1 , \dut.table_1.lda_clear_1 , \dut.table_2.lda_clear_1 , \dut.table_3.lda_clear_1 ;
    (* hierconn *) wire \dut.table_0.lda_drain_epoch , \dut.table_1.lda_drain_epoch , \dut.table_2.lda_drain_epoch , \dut.table_3.lda_drain_epoch ;
    (* hierconn *) wire \dut.table_0.lda_overflow , \dut.table_1.lda_overflow , \dut.table_2.lda_overflow , \dut.table_3.lda_overflow ;
    (* hierconn *) wire \dut.table_0.lda_overflow_epoch , \dut.table_1.lda_overflow_epoch , \dut.table_2.lda_overflow_epoch , \dut.table_3.lda_overflow_epoch ;
    (* hierconn *) wire [`R-1:0] \dut.table_0.lda_address , \dut.table_1.lda_address , \dut.table_2.lda_address , \dut.table_3.lda_address ;
    (* hierconn *) wire [`R-1:0] \dut.table_0.lda_drain_address , \dut.table_1.lda_drain_address , \dut.table_2.lda_drain_address , \dut.table_3.lda_drain_address ;
    (* hierconn *) wire [39:0] \dut.table_0.lda_timestamp , \dut.table_1.lda_timestamp , \dut.table_2.lda_timestamp , \dut.table_3.lda_timestamp ;
    (* hierconn *) wire [31:0] \dut.table_0.lda_field_0 , \dut.table_1.lda_field_0 , \dut.table_2.lda_field_0 , \dut.table_3.lda_field_0 ;
    (* hierconn *) wire [103:0] \dut.table_0.lda_drained_cell , \dut.table_1.lda_drained_cell , \dut.table_2.lda_drained_cell , \dut.table_3.lda_drained_cell ;
    wire [3:0] table_update = {\dut.table_3.lda_update , \dut.table_2.lda_update , \dut.table_1.lda_update , \dut.table_0.lda_update };
    wire [3:0] table_epoch = {\dut.table_3.lda_epoch , \dut.table_2.lda_epoch , \dut.table_1.lda_epoch , \dut.table_0.lda_epoch };
    wire [3:0] table_clear_0 = {\dut.table_3.lda_clear_0 , \dut.table_2.lda_clear_0 , \dut.table_1.lda_clear_0 , \dut.table_0.lda_clear_0 };
    wire [3:0] table_clear_1 = {\dut.table_3.lda_clear_1 , \dut.table_2.lda_clear_1 , \dut.table_1.lda_clear_1 , \dut.table_0.lda_clear_1 };
    wire [3:0] table_drain_epoch = {\dut.table_3.lda_drain_epoch , \dut.table_2.lda_drain_epoch , \dut.table_1.lda_drain_epoch , \dut.table_0.lda_drain_epoch };
    wire [3:0] table_overflow = {\dut.table_3.lda_overflow , \dut.table_2.lda_overflow , \dut.table_1.lda_overflow , \dut.table_0.lda_overflow };
    wire [3:0] table_overflow_epoch = {\dut.table_3.lda_overflow_epoch , \dut.table_2.lda_overflow_epoch , \dut.table_1.lda_overflow_epoch , \dut.table_0.lda_overflow_epoch };
    wire [4*`R-1:0] table_address = {\dut.table_3.lda_address , \dut.table_2.lda_address , \dut.table_1.lda_address , \dut.table_0.lda_address };
    wire [4*`R-1:0] table_drain_address = {\dut.table_3.lda_drain_address , \dut.table_2.lda_drain_address , \dut.table_1.lda_drain_address , \dut.table_0.lda_drain_address };
    wire [159:0] table_timestamp = {\dut.table_3.lda_timestamp , \dut.table_2.lda_timestamp , \dut.table_1.lda_timestamp , \dut.table_0.lda_timestamp };
    wire [127:0] table_field = {\dut.table_3.lda_field_0 , \dut.table_2.lda_field_0 , \dut.table_1.lda_field_0 , \dut.table_0.lda_field_0 };
    wire [415:0] table_drained = {\dut.table_3.lda_drained_cell , \dut.table_2.lda_drained_cell , \dut.table_1.lda_drained_cell , \dut.table_0.lda_drained_cell };

    // The packets of the last cycles: index i came i + 1 cycles ago. The place of two cycles ago, the bases of one, the digests of five.
    reg [6:0] packets = 0, epochs;
    reg [279:0] stamps;
    reg [63:0] places;
    reg [159:0] digests;
    reg [4*`R-1:0] bases;
    reg [4:0] updates = 0;
    always @(posedge clk) begin
        packets <= rst ? 0 : {packets[5:0], packet};
        epochs <= {epochs[5:0], epoch};
        stamps <= {stamps[239:0], nanoseconds};
        places <= {places[31:0], \dut.place_value };
        bases <= {\dut.base_3_column , \dut.base_2_column , \dut.base_1_column , \dut.base_0_column };
        digests <= {digests[127:0], \dut.digest_value };
        updates <= rst ? 0 : {updates[3:0], update};
    end
    wire update = packets[6] && !places[63];
    wire [63:0] hash = {\dut.flow_hash_1_bits , \dut.flow_hash_0_bits };
    wire [1:0] offset = places[47:46];
    integer row;

    always @* if (started) begin
        assert (\dut.place_key == key && \dut.digest_key == key && \dut.flow_key_key == key);
        assert (\dut.flow_hash_0_key == \dut.flow_key_flow && \dut.flow_hash_1_key == \dut.flow_key_flow );
        assert ({\dut.base_0_x , \dut.base_0_y } == hash[31:0]);
        assert ({\dut.base_1_x , \dut.base_1_y } == hash[47:16]);
        assert ({\dut.base_2_x , \dut.base_2_y } == hash[63:32]);
        assert ({\dut.base_3_x , \dut.base_3_y } == {hash[15:0], hash[63:48]});
        assert (table_update == {4{update}});
        if (update) begin
            assert (table_epoch == {4{epochs[6]}});
            for (row = 0; row < 4; row = row + 1)
                assert (table_address[`R*row+:`R] == ((bases[`R*row+:`R] + offset) & {`R{1'b1}}));
            assert (table_timestamp == {4{stamps[279:240]}});
        end
        if (updates[4]) assert (table_field == {4{digests[159:128]}});
    end

    // The drain: the row above, the column below.
    wire [1:0] drained = drain_address[`A-1:`R];
    always @* if (started) begin
        assert (drained_cell == table_drained[104*drained+:104]);
        assert (table_drain_address == {4{drain_address[`R-1:0]}} && table_drain_epoch == {4{drain_epoch}});
        assert (table_clear_0 == (clear_first ? 4'd1 << drained : 4'd0));
        assert (table_clear_1 == (clear_second ? 4'd1 << drained : 4'd0));
    end

    // Wraps.
    wire [3:0] wraps = table_overflow;
    wire [3:0] wraps_epoch = table_overflow_epoch;
    (* anyseq *) wire wrapped_copy;
    always @* assume ((wraps & (wraps_epoch ^ {4{wrapped_copy}})) == 0);
    always @* if (started) assert (overflow == |wraps && (!overflow || overflow_epoch == wrapped_copy));

    // The quiet time before a clear, in an arbitrary copy.
    (* anyconst *) wire copy;
    wire clear = copy ? clear_second : clear_first;
    wire packet_here = packet && epoch == copy;
    wire update_here = table_update[0] && table_epoch[0] == copy;
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
