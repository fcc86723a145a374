// lane: every packet's way from its commit to its cell, with one packet in every cycle or in any other pattern.
//
// Proven, without bound on time, for any packets at any distances:
//   * the hash gets the packet's key a cycle before it gets the packet, and its answer is used two cycles after the
//     key;
//   * the lda gets a packet two cycles later if a bank claims its hash, and never otherwise: in the word given by
//     class and hash, in the copy of its commit, with its own timestamp;
//   * the assumption of lda.v: a copy is cleared only when none of its updates was accepted in this cycle and the
//     six before. Even twelve are quiet, so the drain shows a complete cell.
//
// Assumed, and proven by aggregator.v: a copy is cleared only when no packet of it was committed in this cycle and
// the sixteen before. The hash and the lda are cut out: their outputs are unconstrained. A reset may come at any
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
        .nanoseconds(nanoseconds), .masks(masks), .drain_address(drain_address), .drain_epoch(drain_epoch),
        .clear_first(clear_first),
        .clear_second(clear_second), .drained_cell(drained_cell), .overflow(overflow), .overflow_epoch(overflow_epoch),
        .ends(ends), .sent_kind(sent_kind)
    );
    (* hierconn *) wire [543:0] \dut.hash_key ;
    (* hierconn *) wire [`R-1:0] \dut.hash_row ;
    (* hierconn *) wire [15:0] \dut.hash_prefix ;
    (* hierconn *) wire \dut.lda_update , \dut.lda_epoch , \dut.lda_clear_0 , \dut.lda_clear_1 , \dut.lda_drain_epoch ;
    (* hierconn *) wire [`A-1:0] \dut.lda_address , \dut.lda_drain_address ;
    (* hierconn *) wire [39:0] \dut.lda_timestamp ;
    (* hierconn *) wire [71:0] \dut.lda_drained_cell ;
    (* hierconn *) wire \dut.lda_overflow , \dut.lda_overflow_epoch ;

    // The packets of the last cycles: index i came i + 1 cycles ago. The hash of a cycle ago.
    reg [1:0] packets = 0, epochs;
    reg [3:0] kinds;
    reg [79:0] stamps;
    reg [`R-1:0] row;
    reg [15:0] prefix;
    always @(posedge clk) begin
        packets <= rst ? 0 : {packets[0], packet};
        epochs <= {epochs[0], epoch};
        kinds <= {kinds[1:0], kind};
        stamps <= {stamps[39:0], nanoseconds};
        {row, prefix} <= {\dut.hash_row , \dut.hash_prefix };
    end
    wire claimed = prefix[15] == 0;
    wire bank = `BANKS == 2 && prefix[15:14] == 0;
    wire [`A-1:0] base = kinds[3:2] << `SHIFT;
    wire [`A-1:0] word = base | {bank, row};

    always @* if (started) begin
        assert (\dut.hash_key == key);
        assert (\dut.lda_update == (packets[1] && claimed));
        if (\dut.lda_update ) begin
            assert (\dut.lda_address == word && \dut.lda_epoch == epochs[1]);
            assert (\dut.lda_timestamp == stamps[79:40]);
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
    reg [15:0] packets_here = 0;
    reg [11:0] updates_here = 0;
    always @(posedge clk) begin
        packets_here <= rst ? 0 : {packets_here[14:0], packet_here};
        updates_here <= rst ? 0 : {updates_here[10:0], update_here};
    end
    always @* if (clear) assume (!packet_here && packets_here == 0);
    always @* if (started && clear) assert (!update_here && updates_here == 0);

    always @* if (started) begin
        cover (&packets && \dut.lda_update && epochs == 2'b10 && stamps[39:0] != stamps[79:40]);
        cover (packets == 2'b10 && \dut.lda_update );
        cover (packets[1] && !\dut.lda_update );
        cover (&updates_here && packets_here[3:0] == 4'b1111);
        cover (clear && \dut.lda_update );
    end

`ifdef INVARIANTS
    (* hierconn *) wire \dut.hashing_q , \dut.copy_0_q , \dut.copy_1_q ;
    (* hierconn *) wire [1:0] \dut.kinds_0_q , \dut.kinds_1_q ;
    (* hierconn *) wire [39:0] \dut.timestamp.stage_1 ;
    always @* if (started) begin
        assert (\dut.hashing_q == packets[0]);
        if (packets[0]) begin
            assert (\dut.copy_0_q == epochs[0] && \dut.timestamp.stage_1 == stamps[39:0]);
            assert (\dut.kinds_0_q == kinds[1:0]);
        end
        if (packets[1]) assert (\dut.copy_1_q == epochs[1] && \dut.kinds_1_q == kinds[3:2]);
        assert (packets_here[1:0] == (packets & ~(epochs ^ {2{copy}})));
        assert ((updates_here & ~packets_here[13:2]) == 0);
    end
`endif
endmodule
