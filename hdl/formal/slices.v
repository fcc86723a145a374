// slices: every packet's way from its commit to the record of its slice, with one packet in every cycle or in any other pattern.
//
// Proven, without bound on time, for an arbitrary record of an arbitrary copy:
//   * a record is used exactly if so many slices have started in its copy since the copy became the one that counts: a packet whose place
//     was claimed starts one, as long as there is room;
//   * it holds the place and the timestamp of the packet that started it, and counts and sums that packet and all behind it up to the
//     next start, the change of the copy, or for ever in the last record: no packet is lost, or counted twice, between slices;
//   * drained_cell shows its two words four cycles after the drain's address settled, or zero if it is not used, from the eleventh cycle on
//     behind the copy's last one, whatever happens in the other copy;
//   * overflow reports exactly that a count wrapped, seven cycles after its packet, and of which copy.
//
// Place is cut out: its output is unconstrained. A reset may come at any time.
//
// Parameter: A, the width of an address. One bank with a prefix of one bit. The memories are the contract of memory.v.
`define MEMORY slices_ram_macro
`include "memory.v"

module slices_proof(
    input wire clk,
    input wire rst,
    input wire [543:0] key,
    input wire packet,
    input wire epoch,
    input wire [39:0] nanoseconds,
    input wire [`A-1:0] drain_address,
    input wire drain_epoch,
    input wire [127:0] masks
);
    localparam T = `A - 1;
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire [71:0] drained_cell;
    wire overflow, overflow_epoch;
    slices dut(
        .clk(clk), .rst(rst), .key(key), .packet(packet), .epoch(epoch), .nanoseconds(nanoseconds), .mixing(95'd0),
        .masks(masks), .drain_address(drain_address), .drain_epoch(drain_epoch), .drained_cell(drained_cell),
        .overflow(overflow), .overflow_epoch(overflow_epoch)
    );
    (* hierconn *) wire [543:0] \dut.place_key ;
    (* hierconn *) wire [31:0] \dut.place_value ;
    always @* if (started) assert (\dut.place_key == key);

    // The chosen record.
    (* anyconst *) wire copy;
    (* anyconst *) wire [T-1:0] chosen;
    genvar g;
    (* hierconn *) wire [T-1:0] \dut.memory_0.ram_0.words.chosen , \dut.memory_0.ram_1.words.chosen , \dut.memory_0.ram_2.words.chosen ,
        \dut.memory_0.ram_3.words.chosen , \dut.memory_1.ram_0.words.chosen , \dut.memory_1.ram_1.words.chosen ,
        \dut.memory_1.ram_2.words.chosen , \dut.memory_1.ram_3.words.chosen ;
    (* hierconn *) wire [35:0] \dut.memory_0.ram_0.words.held , \dut.memory_0.ram_1.words.held , \dut.memory_0.ram_2.words.held ,
        \dut.memory_0.ram_3.words.held , \dut.memory_1.ram_0.words.held , \dut.memory_1.ram_1.words.held ,
        \dut.memory_1.ram_2.words.held , \dut.memory_1.ram_3.words.held ;
    always @* begin
        assume (\dut.memory_0.ram_0.words.chosen == chosen && \dut.memory_0.ram_1.words.chosen == chosen);
        assume (\dut.memory_0.ram_2.words.chosen == chosen && \dut.memory_0.ram_3.words.chosen == chosen);
        assume (\dut.memory_1.ram_0.words.chosen == chosen && \dut.memory_1.ram_1.words.chosen == chosen);
        assume (\dut.memory_1.ram_2.words.chosen == chosen && \dut.memory_1.ram_3.words.chosen == chosen);
    end
    wire [143:0] held = copy
        ? { \dut.memory_1.ram_1.words.held , \dut.memory_1.ram_0.words.held , \dut.memory_1.ram_3.words.held , \dut.memory_1.ram_2.words.held }
        : { \dut.memory_0.ram_1.words.held , \dut.memory_0.ram_0.words.held , \dut.memory_0.ram_3.words.held , \dut.memory_0.ram_2.words.held };

    // The last cycles: index i is i + 1 cycles ago. Nothing that is under way outlasts a reset.
    reg [5:0] packets = 0, epochs = 0;
    reg [239:0] stamps;
    reg [31:0] place;
    always @(posedge clk) begin
        packets <= rst ? 0 : {packets[4:0], packet};
        epochs <= rst ? 0 : {epochs[4:0], epoch};
        stamps <= rst ? 0 : {stamps[199:0], nanoseconds};
        place <= rst ? 0 : \dut.place_value ;
    end
    wire [39:0] stamp = stamps[239:200];

    // The reference, in the chosen copy: how many slices have started, and the chosen record.
    wire here = epochs[5] == copy;
    reg here_before;
    reg [T:0] number = 0;
    reg [31:0] first_place, count;
    reg [39:0] start, sum;
    wire [T:0] number_now = here && !here_before ? 0 : number;
    wire starts = here && packets[5] && !place[31] && number_now != 1 << T;
    wire goes_on = here && packets[5] && !starts && number_now != 0;
    wire is_used = chosen < number;
    // It may change in this cycle, and it is the one that did in the cycle before.
    wire starts_chosen = starts && number_now == chosen;
    wire extends_chosen = goes_on && number_now == chosen + 1;
    reg is_written = 0, is_other = 0;
    always @(posedge clk) begin
        here_before <= rst ? !copy : here;
        number <= rst ? 0 : number_now + starts;
        if (starts_chosen) {first_place, start, count, sum} <= {place, stamp, 32'd1, stamp};
        else if (extends_chosen) {count, sum} <= {count + 32'd1, sum + stamp};
        is_written <= !rst && (starts_chosen || extends_chosen);
        is_other <= !rst && packets[5] && !(starts_chosen || extends_chosen);
    end

    // Of the core's registers.
    (* hierconn *) wire \dut.copy_before_q , \dut.written_q , \dut.written_copy_q ;
    (* hierconn *) wire [`A-1:0] \dut.used_0_q , \dut.used_1_q ;
    (* hierconn *) wire [31:0] \dut.first_place_q , \dut.count_q ;
    (* hierconn *) wire [39:0] \dut.start_q , \dut.sum_q ;
    (* hierconn *) wire [T-1:0] \dut.number_q ;
    wire [143:0] record = {first_place, start, count, sum};
    wire [143:0] running = { \dut.first_place_q , \dut.start_q , \dut.count_q , \dut.sum_q };
    wire is_writing = \dut.written_q && \dut.written_copy_q == copy && \dut.number_q == chosen;
    always @* if (started) begin
        assert ((copy ? \dut.used_1_q : \dut.used_0_q ) == number);
        assert (number <= 1 << T);
        assert (\dut.copy_before_q == (here_before ? copy : !copy));
        // The record that goes on is the last one of the copy that counts.
        if (here_before && number != 0) assert (\dut.number_q == number - 1);
        if (here_before && number == chosen + 1) assert (running == record);
        assert (is_writing == is_written);
        if (is_written) assert (running == record && is_used);
        if (is_used && !is_written) assert (held == record);
        if (is_written) assert (overflow == (count == 0) && overflow_epoch == copy);
        if (!is_written && !is_other) assert (!overflow);
    end

    // The drain.
    reg [3:0] settled = 0;
    reg [10:0] elsewhere = 0;
    reg [`A-1:0] address_before;
    reg drain_epoch_before;
    always @(posedge clk) begin
        address_before <= drain_address;
        drain_epoch_before <= drain_epoch;
        settled <= rst ? 0 : {settled[2:0], drain_address[`A-1:1] == chosen && drain_epoch == copy};
        elsewhere <= rst ? 0 : {elsewhere[9:0], epoch != copy};
    end
    wire is_shown = settled == 15 && drain_address == address_before && drain_epoch == copy && (&elsewhere) && epoch != copy;
    always @* if (started && is_shown)
        assert (drained_cell == (!is_used ? 72'd0 : drain_address[0] ? record[71:0] : record[143:72]));

    always @* if (started) begin
        cover (is_shown && is_used && count == 3 && number == chosen + 1 && drain_address[0]);
        cover (is_shown && is_used && number > chosen + 1 && !drain_address[0]);
        cover (is_shown && !is_used && packets[5] && !here);
        cover (starts && number_now == 0 && number == 1 << T);
        cover (goes_on && number_now == 1 << T && !place[31]);
    end
endmodule
