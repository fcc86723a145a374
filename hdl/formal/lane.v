// lane: every packet's way from its commit to its cell, with one packet in every cycle or in any other pattern.
//
// Proven, without bound on time, for any packets at any distances:
//   * the place is made of the key that comes a cycle before its packet, and is used six cycles behind the key;
//   * the lda gets a packet six cycles later if a bank claims its place, and never otherwise: in the word given by
//     class and place, in the copy of its commit, with its own timestamp;
//   * the assumption of lda.v: a copy is cleared only when none of its updates was accepted in this cycle and the
//     six before. Even twelve are quiet, so the drain shows a complete cell.
//
// Assumed, and proven by aggregator.v: a copy is cleared only when no packet of it was committed in this cycle and
// the twenty before. The place and the lda are cut out: their outputs are unconstrained. A reset may come at any
// time.
//
// Parameters: A, the width of an address; R, that of a row; BANKS, 1 or 2, with prefixes of one and two bits; SHIFT, the
// bit of an address where the class starts.
`define MEMORY lane_ram_macro
`include "memory.v"

module lane_proof(
    input wire clk,
    input wire rst,
    input wire [543:0] key,
    input wire packet,
    input wire [1:0] kind,
    input wire epoch,
    input wire [39:0] nanoseconds,
    input wire [`A-1:0] drain_address,
    input wire drain_epoch,
    input wire clear_first,
    input wire clear_second,
    input wire [127:0] masks,
    input wire ends,
    input wire [1:0] sent_kind
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire [71:0] drained_cell;
    wire overflow, overflow_epoch;
    lane dut(
        .clk(clk), .rst(rst), .key(key), .packet(packet), .kind(kind), .epoch(epoch),
        .nanoseconds(nanoseconds), .masks(masks), .mixing(95'd0), .drain_address(drain_address), .drain_epoch(drain_epoch),
        .clear_first(clear_first),
        .clear_second(clear_second), .drained_cell(drained_cell), .overflow(overflow), .overflow_epoch(overflow_epoch),
        .ends(ends), .sent_kind(sent_kind)
    );
    (* hierconn *) wire [543:0] \dut.place_key ;
    (* hierconn *) wire [31:0] \dut.place_value ;
    (* hierconn *) wire \dut.lda_update , \dut.lda_epoch , \dut.lda_clear_0 , \dut.lda_clear_1 , \dut.lda_drain_epoch ;
    (* hierconn *) wire [`A-1:0] \dut.lda_address , \dut.lda_drain_address ;
    (* hierconn *) wire [39:0] \dut.lda_timestamp ;
    (* hierconn *) wire [71:0] \dut.lda_drained_cell ;
    (* hierconn *) wire \dut.lda_overflow , \dut.lda_overflow_epoch ;

    // The packets of the last cycles: index i came i + 1 cycles ago. The place of a cycle ago.
    reg [5:0] packets = 0, epochs;
    reg [11:0] kinds;
    reg [239:0] stamps;
    reg [31:0] place;
    always @(posedge clk) begin
        packets <= rst ? 0 : {packets[4:0], packet};
        epochs <= {epochs[4:0], epoch};
        kinds <= {kinds[9:0], kind};
        stamps <= {stamps[199:0], nanoseconds};
        place <= \dut.place_value ;
    end
    wire claimed = place[31] == 0;
    wire bank = `BANKS == 2 && place[31:30] == 0;
    wire [`A-1:0] base = kinds[11:10] << `SHIFT;
    wire [`A-1:0] word = base | {bank, place[`R-1:0]};

    always @* if (started) begin
        assert (\dut.place_key == key);
        assert (\dut.lda_update == (packets[5] && claimed));
        if (\dut.lda_update ) begin
            assert (\dut.lda_address == word && \dut.lda_epoch == epochs[5]);
            assert (\dut.lda_timestamp == stamps[239:200]);
        end
        assert ({\dut.lda_drain_address , \dut.lda_drain_epoch } == {drain_address, drain_epoch});
        assert ({\dut.lda_clear_1 , \dut.lda_clear_0 } == {clear_second, clear_first});
        assert ({drained_cell, overflow} == {\dut.lda_drained_cell , \dut.lda_overflow });
        assert (overflow_epoch == \dut.lda_overflow_epoch );
    end

    // The quiet time before a clear, in an arbitrary copy.
    (* anyconst *) wire copy;
    wire clear = copy ? clear_second : clear_first;
    wire packet_here = packet && epoch == copy;
    wire update_here = \dut.lda_update && \dut.lda_epoch == copy;
    reg [19:0] packets_here = 0;
    reg [11:0] updates_here = 0;
    always @(posedge clk) begin
        packets_here <= rst ? 0 : {packets_here[18:0], packet_here};
        updates_here <= rst ? 0 : {updates_here[10:0], update_here};
    end
    always @* if (clear) assume (!packet_here && packets_here == 0);
    always @* if (started && clear) assert (!update_here && updates_here == 0);

    always @* if (started) begin
        cover (&packets && \dut.lda_update && epochs == 6'b101010 && stamps[39:0] != stamps[239:200]);
        cover (packets == 6'b100000 && \dut.lda_update );
        cover (packets[5] && !\dut.lda_update );
        cover (&updates_here && packets_here[7:0] == 8'hff);
        cover (clear && \dut.lda_update );
    end

`ifdef INVARIANTS
    (* hierconn *) wire \dut.placing_0_q , \dut.placing_1_q , \dut.placing_2_q , \dut.placing_3_q , \dut.placing_4_q ;
    (* hierconn *) wire \dut.copy_0_q , \dut.copy_1_q , \dut.copy_2_q , \dut.copy_3_q , \dut.copy_4_q , \dut.copy_5_q ;
    (* hierconn *) wire [1:0] \dut.kinds_0_q , \dut.kinds_1_q , \dut.kinds_2_q , \dut.kinds_3_q , \dut.kinds_4_q , \dut.kinds_5_q ;
    (* hierconn *) wire [39:0] \dut.timestamp.stage_1 , \dut.timestamp.stage_2 , \dut.timestamp.stage_3 , \dut.timestamp.stage_4 , \dut.timestamp.stage_5 , \dut.timestamp.q ;
    wire [4:0] placing = {\dut.placing_4_q , \dut.placing_3_q , \dut.placing_2_q , \dut.placing_1_q , \dut.placing_0_q };
    wire [5:0] copies = {\dut.copy_5_q , \dut.copy_4_q , \dut.copy_3_q , \dut.copy_2_q , \dut.copy_1_q , \dut.copy_0_q };
    wire [11:0] kinds_here = {\dut.kinds_5_q , \dut.kinds_4_q , \dut.kinds_3_q , \dut.kinds_2_q , \dut.kinds_1_q , \dut.kinds_0_q };
    wire [239:0] stamps_here = {
        \dut.timestamp.q , \dut.timestamp.stage_5 , \dut.timestamp.stage_4 , \dut.timestamp.stage_3 , \dut.timestamp.stage_2 ,
        \dut.timestamp.stage_1
    };
    genvar g;
    generate for (g = 0; g < 6; g = g + 1) begin
        always @* if (started && packets[g]) begin
            assert (copies[g] == epochs[g] && kinds_here[2*g+:2] == kinds[2*g+:2]);
            assert (stamps_here[40*g+:40] == stamps[40*g+:40]);
        end
    end endgenerate
    always @* if (started) begin
        assert (placing == packets[4:0]);
        assert (packets_here[5:0] == (packets & ~(epochs ^ {6{copy}})));
        assert ((updates_here & ~packets_here[17:6]) == 0);
    end
`endif
endmodule
