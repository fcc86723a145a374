// byte_slices: every packet's way from its end to the record of its slice, word by word, in a core of 8 bits.
//
// Proven, without bound on time, for an arbitrary word cell of an arbitrary record of an arbitrary copy:
//   * a record is used exactly if so many slices have started in its copy since its drain ended: a packet that is sampled starts one, as long as
//     there is room;
//   * its first cell holds the place and the time of the packet that started it, its second one the count and the sum of that packet and of all
//     behind it up to the next start, or of all in the last record: no packet is lost, or counted twice, between slices, in whatever order
//     operations of drains, of the small counters and of the packet come;
//   * what a drain clears is clear, and nothing else is.
// After reset all words are zero.
//
// Assumed, and simulated: a packet comes when the one before has been recorded (34 cycles are enough); its time is taken between; drains ask
// eight cycles apart, for the idle copy, in which no packet is under way; epoch does not change under an answer; where a drain ends, all is clear.
//
// Parameter: A, the width of a cell's address. The memories are the contract of memory.v.
`define MEMORY ledger_ram_macro
`include "memory.v"

module byte_slices_proof(
    input wire clk,
    input wire rst,
    input wire epoch,
    input wire packet,
    input wire unmeasured,
    input wire bad,
    input wire refused,
    input wire ignored,
    input wire unlocked,
    input wire [16:0] octets,
    input wire sampled,
    input wire [`A-1:0] address,
    input wire [31:0] place,
    input wire [63:0] stamp,
    input wire take_stamp,
    input wire by_clock,
    input wire end_drain,
    input wire ask,
    input wire [2:0] ask_plane,
    input wire [`A-1:0] ask_address,
    input wire [5:0] ask_word,
    input wire ask_clear
);
    localparam T = `A - 1;
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire running;
    ledger dut(
        .clk(clk), .rst(rst), .epoch(epoch), .packet(packet), .unmeasured(unmeasured), .bad(bad), .refused(refused), .ignored(ignored),
        .unlocked(unlocked), .octets(octets), .sampled(sampled), .address(address), .place_0(place), .stamp(stamp), .take_stamp(take_stamp),
        .by_clock(by_clock), .end_drain(end_drain), .ask(ask), .ask_plane(ask_plane), .ask_address(ask_address), .ask_word(ask_word),
        .ask_clear(ask_clear), .answers(), .answer(), .flags(), .running(running)
    );
    (* hierconn *) wire \dut.waiting_q , \dut.is_packet_q , \dut.is_drain_q , \dut.packet_copy_q ;
    (* hierconn *) wire \dut.landing_0_q , \dut.landing_1_q , \dut.landing_2_q , \dut.landing_3_q , \dut.landing_4_q ;
    (* hierconn *) wire [4:0] \dut.step_q ;
    wire waiting = \dut.waiting_q , is_packet = \dut.is_packet_q , copy_now = \dut.packet_copy_q ;
    wire [4:0] step = \dut.step_q ;
    wire [4:0] landing = { \dut.landing_4_q , \dut.landing_3_q , \dut.landing_2_q , \dut.landing_1_q , \dut.landing_0_q };

    // The chosen word cell: the first or the second one of a record.
    (* anyconst *) wire copy, second;
    (* anyconst *) wire [T-1:0] chosen;
    wire [`A:0] where = {chosen, second, copy};
    (* hierconn *) wire [`A:0] \dut.sum_low.words.chosen , \dut.sum_middle.words.chosen , \dut.sum_high.words.chosen ,
        \dut.count_low.words.chosen , \dut.count_high.words.chosen ;
    (* hierconn *) wire [15:0] \dut.sum_low.words.held , \dut.sum_middle.words.held , \dut.count_low.words.held , \dut.count_high.words.held ;
    (* hierconn *) wire [7:0] \dut.sum_high.words.held ;
    always @* begin
        assume ( \dut.sum_low.words.chosen == where && \dut.sum_middle.words.chosen == where && \dut.sum_high.words.chosen == where);
        assume ( \dut.count_low.words.chosen == where && \dut.count_high.words.chosen == where);
    end
    wire [71:0] held = { \dut.count_high.words.held , \dut.count_low.words.held , \dut.sum_high.words.held , \dut.sum_middle.words.held ,
        \dut.sum_low.words.held };

    // What is under way: a packet, up to its last operation's write; a drain's question.
    wire operates = is_packet && ! \dut.is_drain_q ;
    reg [3:0] operated = 0;
    reg [6:0] asked = 0;
    wire busy = waiting || is_packet || |landing || |operated;
    reg [`A+9:0] asked_before;
    reg epoch_before;
    reg [31:0] place_before;
    wire [`A+9:0] question = {ask_plane, ask_address, ask_word, ask_clear};
    always @(posedge clk) begin
        operated <= rst ? 0 : {operated[2:0], operates};
        asked <= rst ? 0 : {asked[5:0], ask};
        asked_before <= question;
        epoch_before <= epoch;
        place_before <= place;
    end
    wire elsewhere = !busy || copy_now == epoch;
    always @* begin
        if (packet) assume (running && !busy && is_stamped);
        if (take_stamp) assume (!busy && !packet);
        if (ask) assume (running && asked == 0 && elsewhere);
        if (|asked[5:0]) assume (question == asked_before);
        if (|asked) assume (epoch == epoch_before);
        if (end_drain) assume (!ask && asked == 0 && elsewhere);
        if (busy && !(|landing)) assume (place == place_before);
    end

    // The reference: the packet's time, how many slices have started, and the chosen cell, before the packet that is recorded and with it.
    reg [63:0] sent = 0;
    reg [T:0] number_0 = 0, number_1 = 0;
    wire chooses = landing[4];
    wire [T:0] number = copy_now ? number_1 : number_0;
    wire starts = sampled && number != 1 << T;
    wire [T:0] number_then = number + starts;
    wire touches = chooses && copy_now == copy && number_then == chosen + 1 && (second || starts);
    reg is_touched = 0, is_started = 0, has_record = 0;
    reg [`A-1:0] cell_then = 0;
    reg [71:0] before = 0, after = 0;
    reg [4:0] done = 5'h1f;
    // Which of the planes an operation writes: sums from the lowest on, counts.
    wire [4:0] writes = second
        ? {step == 15, step == 14, step == 11, step == 8, step == 5}
        : {step == 6, step == 6, step == 12, step == 9, step == 6};
    wire [4:0] begins = operates && is_touched ? writes : 5'd0;
    wire clears_cell = \dut.is_drain_q && ask_clear && ask_address == {chosen, second} && copy != epoch;
    wire [4:0] wipes = clears_cell ? {ask_plane == 4, ask_plane == 3, ask_plane == 2, ask_plane == 1, ask_plane == 0} : 5'd0;
    reg [4:0] begun_1 = 0, begun_2 = 0, begun_3 = 0, begun_4 = 0, wiped_1 = 0, wiped_2 = 0, wiped_3 = 0, wiped_4 = 0;
    function [71:0] mask(input [4:0] planes);
        mask = {{16{planes[4]}}, {16{planes[3]}}, {8{planes[2]}}, {16{planes[1]}}, {16{planes[0]}}};
    endfunction
    function [71:0] with_packet(input [71:0] word, input [39:0] nanoseconds, input [31:0] place);
        with_packet = second ? {word[71:40] + 32'd1, word[39:0] + nanoseconds} : {place, nanoseconds};
    endfunction
    wire turns = operates && (step == 4 || step == 7 || step == 10 || step == 13 || step == 15 || step == 16 || step == 17);
    reg turned_1 = 0, turned_2 = 0;
    reg [1:0] turned = 0;
    reg is_stamped = 0;
    always @(posedge clk) begin
        if (rst) begin
            {number_0, number_1, is_touched, is_started, has_record, cell_then, before, after, sent, turned, is_stamped} <= 0;
            {turned_1, turned_2, begun_1, begun_2, begun_3, begun_4, wiped_1, wiped_2, wiped_3, wiped_4} <= 0;
            done <= 5'h1f;
        end else begin
            is_stamped <= !packet && (take_stamp || is_stamped);
            if (take_stamp) {sent, turned} <= {stamp, 2'd0};
            else if (turned_2) turned <= turned + 1;
            {turned_1, turned_2} <= {turns, turned_1};
            {begun_1, begun_2, begun_3, begun_4} <= {begins, begun_1, begun_2, begun_3};
            {wiped_1, wiped_2, wiped_3, wiped_4} <= {wipes, wiped_1, wiped_2, wiped_3};
            done <= done | begun_4;
            before <= before & ~mask(wiped_4);
            after <= after & ~mask(wiped_4);
            if (chooses) begin
                if (copy_now) number_1 <= number_then;
                else number_0 <= number_then;
                is_touched <= touches;
                is_started <= starts;
                has_record <= number_then != 0;
                cell_then <= {number_then[T-1:0] - 1'b1, 1'b1};
                if (touches) begin
                    before <= after;
                    done <= 0;
                    after <= with_packet(after, sent[55:16], place);
                end
            end
            if (end_drain && epoch) number_0 <= 0;
            if (end_drain && !epoch) number_1 <= 0;
        end
    end
    wire [71:0] expected = (after & mask(done)) | (before & ~mask(done));
    always @* if (end_drain && copy != epoch) assume (after == 0);

    always @* if (started && running && !rst) begin
        assert (held == expected);
        if (!busy) assert (&done);
    end

`ifdef INVARIANTS
    (* hierconn *) wire [`A-1:0] \dut.used_first_0_q , \dut.used_second_0_q , \dut.target_q ;
    (* hierconn *) wire \dut.is_sampled_q , \dut.starts_0_q ;
    (* hierconn *) wire [63:0] \dut.time_words_q ;
    (* hierconn *) wire [12:0] \dut.clearing_q ;
    wire [4:0] planes = second ? {step > 15, step > 14, step > 11, step > 8, step > 5} : {step > 6, step > 6, step > 12, step > 9, step > 6};
    wire records = (is_packet || |operated) && landing == 0;
    wire [4:0] under_way = begun_1 | begun_2 | begun_3 | begun_4;
    wire [1:0] turning = turned_1 + turned_2;
    wire [1:0] turns_before = (step > 4) + (step > 7) + (step > 10) + (step > 13) + (step > 15) + (step > 16) + (step > 17);
    integer i;
    always @* if (started) begin
        assert ( \dut.used_first_0_q == number_0 && \dut.used_second_0_q == number_1);
        assert (number_0 <= 1 << T && number_1 <= 1 << T);
        assert ( \dut.is_sampled_q == has_record && \dut.starts_0_q == is_started);
        assert ( \dut.target_q == cell_then);
        assert ( \dut.time_words_q == ({sent, sent} >> {turned, 4'd0}) % (1 << 64));
        if (is_stamped || waiting) assert (turned == 0 && turning == 0);
        if (is_packet) assert (turned + turning == turns_before);
        if (turning != 0) assert (|operated);
        assert (step <= (is_packet ? 22 : 2));
        assert (!waiting || !is_packet);
        assert ((landing & (landing - 1)) == 0);
        if (|landing) assert (waiting || is_packet);
        if (waiting) assert (|landing[3:0]);
        for (i = 0; i < 5; i = i + 1) if (landing[i] && is_packet) assert (step < i);
        if (|landing || waiting) assert (&done && under_way == 0);
        if (is_packet && !(|landing) && is_touched) assert ((done | under_way) == planes && (done & under_way) == 0);
        if (is_packet && !(|landing) && !is_touched) assert (&done);
        if (!is_packet && !waiting) assert (&(done | under_way));
        if (under_way != 0) assert (|operated);
        // While a packet is recorded, the cell with it follows from the one before; no drain works on it.
        if (has_record) assert (cell_then[0]);
        if (is_started) assert (has_record);
        if (records)
            assert (is_touched == (copy_now == copy && has_record && cell_then == {chosen, 1'b1} && (second || is_started)));
        if (records && is_touched) assert (after == with_packet(before, sent[55:16], place));
        assert ( \dut.is_drain_q == asked[0]);
        assert ((asked & (asked - 1)) == 0);
        if ((wipes | wiped_1 | wiped_2 | wiped_3 | wiped_4) != 0) assert (copy != epoch && !(busy && copy_now == copy));
        if (wiped_1 != 0) assert (asked[1]);
        if (wiped_2 != 0) assert (asked[2]);
        if (wiped_3 != 0) assert (asked[3]);
        if (wiped_4 != 0) assert (asked[4]);
        if (!running) assert (!waiting && !is_packet && landing == 0 && operated == 0 && asked == 0 && &done && after == 0 && before == 0);
        if (!running && \dut.clearing_q > where) assert (held == 0);
    end
`endif

`ifdef TRACE
    // Packets as soon as they may come, nothing else to do, no drains, few times and places.
    always @* begin
        assume (packet == (running && !busy && is_stamped) && take_stamp == (!busy && !is_stamped));
        assume (!ask && !unmeasured && !bad && !refused && !ignored && !unlocked && !by_clock && octets == 0);
        assume ((stamp & ~64'h1_0001_0000) == 0 && (place & ~32'h1_0001) == 0 && address == 0 && ask_word == 0 && ask_address == 0);
    end
`endif

    always @* if (started && running) begin
        cover (!busy && second && after[71:40] == 2 && chosen == 0);
        cover (!busy && !second && after[71:40] != 0 && number_0 == 2 && chosen == 1 && !copy);
    end
endmodule
