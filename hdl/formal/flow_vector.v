// flow_vector: every packet's way from its commit to its flow's counter, with one packet in every cycle or in any other pattern.
//
// Proven, without bound on time, for any packets at any distances:
//   * place and flow are made of the key that comes a cycle before its packet; the flow's hash is that of the flow;
//   * the first rounds are those of the lower half of the flow's hash plus 2654435769 j, where the place of two cycles before
//     says j in bits 15:10, and the hash is that of five cycles before; the second rounds those of what the first ones
//     give, exclusive or the upper half of the same hash, nine cycles before;
//   * fifteen cycles behind a packet the vector is updated if its place was claimed, and never otherwise: in the copy of its commit, at the
//     highest bits of what the second rounds give, with its own timestamp;
//   * a drain's address shows the cell and clears it; a wrap is told, of its copy;
//   * the assumption of lda.v: a copy is cleared only when none of its updates was accepted in this cycle and the
//     six before. And what it shows a cycle before is complete: none was in nine before. Even thirteen are quiet.
//
// Assumed: a copy is cleared only when no packet of it was committed in this cycle and the 28 before (proven by
// aggregator.v). Place, flow key, hash, rounds and lda are cut out: their outputs are unconstrained. A reset may come at any time.
//
// Parameter: A, the width of an address. One bank with a prefix of one bit.
`define MEMORY flow_vector_ram_macro
`include "memory.v"

module flow_vector_proof(
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
    input wire [127:0] masks
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire [71:0] drained_cell;
    wire overflow, overflow_epoch;
    flow_vector dut(
        .clk(clk), .rst(rst), .key(key), .packet(packet), .epoch(epoch), .nanoseconds(nanoseconds), .mixing(95'd0),
        .masks(masks), .drain_address(drain_address), .drain_epoch(drain_epoch), .clear_first(clear_first),
        .clear_second(clear_second), .drained_cell(drained_cell), .overflow(overflow), .overflow_epoch(overflow_epoch)
    );
    (* hierconn *) wire [543:0] \dut.place_key , \dut.flow_key_key , \dut.flow_key_flow , \dut.flow_hash_0_key , \dut.flow_hash_1_key ;
    (* hierconn *) wire [31:0] \dut.place_value , \dut.flow_hash_0_bits , \dut.flow_hash_1_bits ;
    (* hierconn *) wire [31:0] \dut.subvector.first_value , \dut.subvector.first_mixed , \dut.subvector.second_value , \dut.subvector.second_mixed ;
    (* hierconn *) wire \dut.lda_update , \dut.lda_epoch , \dut.lda_clear_0 , \dut.lda_clear_1 , \dut.lda_drain_epoch ;
    (* hierconn *) wire \dut.lda_overflow , \dut.lda_overflow_epoch ;
    (* hierconn *) wire [`A-1:0] \dut.lda_address , \dut.lda_drain_address ;
    (* hierconn *) wire [39:0] \dut.lda_timestamp ;
    (* hierconn *) wire [71:0] \dut.lda_drained_cell ;

    // The last cycles: index i is i + 1 cycles ago. Nothing that is under way outlasts a reset.
    reg [14:0] packets = 0, epochs;
    reg [599:0] stamps;
    reg [319:0] places;
    reg [159:0] lower;
    reg [287:0] upper;
    reg [9:0] whole = 0;
    always @(posedge clk) begin
        packets <= rst ? 0 : {packets[13:0], packet};
        epochs <= {epochs[13:0], epoch};
        stamps <= {stamps[559:0], nanoseconds};
        places <= {places[287:0], \dut.place_value };
        lower <= {lower[127:0], \dut.flow_hash_0_bits };
        upper <= {upper[255:0], \dut.flow_hash_1_bits };
        whole <= rst ? 0 : {whole[8:0], 1'b1};
    end
    wire update = packets[14] && !places[319];
    wire [5:0] number = places[47:42];
    wire [31:0] sum = lower[159:128] + 32'd2654435769 * number;

    always @* if (started) begin
        assert (\dut.place_key == key && \dut.flow_key_key == key);
        assert (\dut.flow_hash_0_key == \dut.flow_key_flow && \dut.flow_hash_1_key == \dut.flow_key_flow );
        if (whole[4]) assert (\dut.subvector.first_value == sum);
        if (whole[8]) assert (\dut.subvector.second_value == (\dut.subvector.first_mixed ^ upper[287:256]));
        assert (\dut.lda_update == update);
        assert (\dut.lda_address == \dut.subvector.second_mixed [31:32-`A]);
        if (update) assert (\dut.lda_epoch == epochs[14] && \dut.lda_timestamp == stamps[599:560]);
    end

    // The drain.
    always @* if (started) begin
        assert (drained_cell == \dut.lda_drained_cell );
        assert (\dut.lda_drain_address == drain_address && \dut.lda_drain_epoch == drain_epoch);
        assert (\dut.lda_clear_0 == clear_first && \dut.lda_clear_1 == clear_second);
        assert (overflow == \dut.lda_overflow && overflow_epoch == \dut.lda_overflow_epoch );
    end

    // The quiet time before a clear, in an arbitrary copy.
    (* anyconst *) wire copy;
    wire clear = copy ? clear_second : clear_first;
    wire packet_here = packet && epoch == copy;
    wire update_here = \dut.lda_update && \dut.lda_epoch == copy;
    reg [27:0] packets_here = 0;
    reg [12:0] updates_here = 0;
    always @(posedge clk) begin
        packets_here <= rst ? 0 : {packets_here[26:0], packet_here};
        updates_here <= rst ? 0 : {updates_here[11:0], update_here};
    end
    always @* if (clear) assume (!packet_here && packets_here == 0);
    always @* if (started && clear) assert (!update_here && updates_here == 0);

    always @* if (started) begin
        cover (&packets && update && epochs == 15'b101010101010101 && stamps[39:0] != stamps[599:560]);
        cover (packets == 15'b100000000000000 && update);
        cover (packets[14] && !update);
        cover (whole[4] && number == 63);
        cover (&updates_here && packets_here[7:0] == 8'hff);
        cover (clear && update);
        cover (overflow && overflow_epoch);
    end
endmodule
