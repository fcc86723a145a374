// interval: drains never overlap, nothing that asks for an end is lost without a report, and no interval ends twice.
//
// Proven, without bound on time, for any inputs:
//   * start_drain comes only while running and not drain_busy: two drains never overlap;
//   * while the core is running, every request and every delimiter is answered four cycles later: a request by start_drain or
//     refused, a delimiter by these or ignored. Nothing else is answered;
//   * the epoch changes after every start_drain and at no other time;
//   * an interval that a delimiter ends gets the delimiter's number, one that a request ends the number that is due; begun is the
//     number behind;
//   * without gap, number is the one behind that of the interval before;
//   * an end comes at least the cycles of `least` behind the one before, as `least` was when that one came; what is refused came sooner, or
//     during a drain;
//   * no interval ends twice: a delimiter of the epoch of the last one that counted ends no interval whose number is that of one
//     of the 63 before.
//
// Without a key; what changes with one is proven in succession.v.
//
// Assumed: drain_busy rises in the cycle behind start_drain and at no other time, as the emitter does; running stays. Otherwise only
// a reset at the start, which may come again at any time.
module interval_proof(
    input wire clk,
    input wire rst,
    input wire request,
    input wire delimiter,
    input wire [31:0] delimiter_number,
    input wire [31:0] delimiter_epoch,
    input wire running,
    input wire [31:0] least,
    input wire drain_busy
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire epoch, start_drain, timed, missing, gap;
    wire [2:0] refused, ignored, ignored_behind;
    wire [31:0] number, begun, running_number;
    interval dut(
        .clk(clk), .rst(rst), .request(request), .delimiter_0(delimiter), .delimiter_number_0(delimiter_number),
        .delimiter_epoch_0(delimiter_epoch), .running(running), .drain_busy(drain_busy), .least(least), .epoch(epoch),
        .keyed(1'b0), .due_signed_0(1'b0), .next_signed_0(1'b0), .due_ready(1'b0), .next_ready(1'b0),
        .start_drain(start_drain), .timed(timed), .missing(missing), .gap(gap), .refused(refused), .ignored(ignored),
        .ignored_behind(ignored_behind), .number(number), .begun(begun), .running_number(running_number)
    );

    reg rst_before = 1, start_before = 0, busy_before = 1, running_before = 0;
    always @(posedge clk) {rst_before, start_before, busy_before, running_before} <= {rst, start_drain, drain_busy, running};
    always @* if (started && !rst_before) begin
        if (start_before) assume (drain_busy);
        else if (!busy_before) assume (!drain_busy);
        if (running_before) assume (running);
    end

    // What came one to four cycles ago, and whether it counted: the core was running two cycles later.
    reg [3:0] asked = 0, came = 0;
    reg [31:0] numbers [0:3];
    reg [31:0] epochs [0:3];
    always @(posedge clk) begin
        asked <= rst ? 0 : {asked[2], asked[1] && running, asked[0], request};
        came <= rst ? 0 : {came[2], came[1] && running, came[0], delimiter};
        {numbers[3], numbers[2], numbers[1], numbers[0]} <= {numbers[2], numbers[1], numbers[0], delimiter_number};
        {epochs[3], epochs[2], epochs[1], epochs[0]} <= {epochs[2], epochs[1], epochs[0], delimiter_epoch};
    end

    // The history since the last reset, as far as it has been answered: whether the number of ends was odd; the number that is due,
    // which follows the last end or refused delimiter; the last interval's number; the epoch of the last delimiter that counted.
    reg odd = 0, any = 0;
    reg [31:0] due = 0, last = 0, last_epoch = 0;
    wire counts = came[3] && ignored == 0;
    wire [31:0] behind = numbers[3] - due;
    always @(posedge clk) begin
        if (start_drain) begin
            odd <= !odd;
            any <= 1;
            last <= number;
            due <= number + 1;
        end else if (counts) due <= numbers[3] + 1;
        if (counts) last_epoch <= epochs[3];
        if (rst) {odd, any, due, last, last_epoch} <= 0;
    end

    always @* if (started) begin
        if (start_drain) assert (running && !drain_busy && refused == 0);
        assert ((start_drain || refused != 0) == (asked[3] || counts));
        assert (ignored <= came[3] && refused <= 1 && ignored_behind == 0);
        assert (epoch == odd);
        assert (timed == (start_drain && !counts));
        if (start_drain) assert (number == (counts ? numbers[3] : due) && begun == number + 1);
        if (start_drain && !gap) assert (any && number == last + 1);
        assert (missing == (start_drain && counts && (numbers[3] != due || epochs[3] != last_epoch)));
        if (counts && any && epochs[3] == last_epoch) assert (behind < 32'hffffffc1);
    end
    // Cycles since the last end came, and how many it asked for: `least` is taken in the cycle before it comes. What is refused was
    // judged two cycles ago; up to the second cycle behind an end, it may be that end which was in its way.
    reg [32:0] since = 33'h100000000;
    reg [31:0] taken = 0, least_before = 0;
    reg [1:0] busy = 0;
    always @(posedge clk) begin
        {busy, least_before} <= {busy[0], drain_busy, least};
        since <= start_drain ? 1 : since + !since[32];
        if (start_drain) taken <= least_before;
        if (rst) {since, taken} <= {33'h100000000, 32'h0};
    end
    wire stands = refused != 0 && !busy[1] && since > 2;
    always @* if (started) begin
        if (start_drain) assert (since >= taken);
        if (stands) assert (since < taken);
    end
    always @* if (started && !rst) begin
        cover (stands);
        cover (start_drain && since == taken && taken > 6);
        cover (start_drain && epoch && timed);
        cover (start_drain && counts && asked[3] && !gap && number == 7);
        cover (gap && epoch && missing);
        cover (refused != 0 && counts);
        cover (number == 32'hffffffff && begun == 0 && start_drain && counts && !gap);
    end

`ifdef INVARIANTS
    (* hierconn *) wire \dut.pending_q , \dut.current_q ;
    (* hierconn *) wire \dut.succession.started_q ;
    (* hierconn *) wire \dut.succession.lost_q ;
    (* hierconn *) wire \dut.succession.has_candidate_q ;
    (* hierconn *) wire [31:0] \dut.succession.due_number_q , \dut.succession.known_epoch_q , \dut.succession.ended_number_q ;
    (* hierconn *) wire [31:0] \dut.succession.successor_number_q , \dut.succession.successor_epoch_q , \dut.succession.begun_number_q ;
    (* hierconn *) wire [12:0] \dut.to_end.stage_1 , \dut.to_end.q ;
    (* hierconn *) wire \dut.succession.there_0_q , \dut.succession.asked_q ;
    (* hierconn *) wire [31:0] \dut.succession.number_0_q , \dut.succession.predecessor_0_q , \dut.succession.successor_0_q ;
    (* hierconn *) wire [31:0] \dut.succession.epoch_0_q , \dut.succession.later_0_q , \dut.succession.later_predecessor_0_q ;
    (* hierconn *) wire \dut.succession.judged_0_q , \dut.succession.judged_request_q ;
    (* hierconn *) wire [31:0] \dut.succession.judged_number_0_q , \dut.succession.judged_successor_0_q ;
    (* hierconn *) wire [31:0] \dut.succession.judged_epoch_0_q ;
    (* hierconn *) wire \dut.succession.due_of_0_q , \dut.succession.next_of_0_q , \dut.succession.due_behind_q ;
    (* hierconn *) wire \dut.succession.foresight_0.to_due.same_number_q , \dut.succession.foresight_0.to_due.same_epoch_q ;
    (* hierconn *) wire \dut.succession.foresight_0.to_due.is_behind_q , \dut.succession.foresight_0.to_due.is_behind_later_q ;
    (* hierconn *) wire \dut.succession.foresight_0.to_behind.same_number_q , \dut.succession.foresight_0.to_behind.same_epoch_q ;
    (* hierconn *) wire \dut.succession.foresight_0.to_behind.is_behind_q , \dut.succession.foresight_0.to_behind.is_behind_later_q ;
    (* hierconn *) wire \dut.succession.foresight_0.to_former_0.same_number_q , \dut.succession.foresight_0.to_former_0.same_epoch_q ;
    (* hierconn *) wire \dut.succession.foresight_0.to_former_0.is_behind_q , \dut.succession.foresight_0.to_former_0.is_behind_later_q ;
    (* hierconn *) wire \dut.succession.foresight_0.of_next_q ;
    wire [31:0] due_now = \dut.succession.due_number_q , epoch_now = \dut.succession.known_epoch_q ;
    wire [31:0] next_now = \dut.succession.successor_number_q , next_epoch_now = \dut.succession.successor_epoch_q ;
    wire [31:0] ended = \dut.succession.ended_number_q ;
    wire started_now = \dut.succession.started_q ;
    // What came a cycle ago is held, and what came two ago is judged.
    always @* if (started) begin
        assert (\dut.succession.there_0_q == came[0] && \dut.succession.asked_q == asked[0]);
        if (came[0]) assert (\dut.succession.number_0_q == numbers[0] && \dut.succession.epoch_0_q == epochs[0]);
        if (came[0]) assert (\dut.succession.later_0_q == numbers[0] + 64 && \dut.succession.later_predecessor_0_q == numbers[0] + 63);
        if (came[0]) assert (\dut.succession.successor_0_q == numbers[0] + 1 && \dut.succession.predecessor_0_q == numbers[0] - 1);
        assert (\dut.succession.judged_0_q == came[1] && \dut.succession.judged_request_q == asked[1]);
        if (came[1]) assert (\dut.succession.judged_number_0_q == numbers[1] && \dut.succession.judged_epoch_0_q == epochs[1]);
        if (came[1]) assert (\dut.succession.judged_successor_0_q == numbers[1] + 1);
    end

    // What the registers held when what is one or two cycles behind its verdict was judged.
    reg [31:0] then_due [0:1];
    reg [31:0] then_epoch [0:1];
    reg [31:0] then_next, then_next_epoch;
    reg [1:0] then_started;
    always @(posedge clk) begin
        {then_due[1], then_due[0]} <= rst ? 0 : {then_due[0], due_now};
        {then_epoch[1], then_epoch[0]} <= rst ? 0 : {then_epoch[0], epoch_now};
        {then_next, then_next_epoch} <= rst ? 0 : {next_now, next_epoch_now};
        then_started <= rst ? 0 : {then_started[0], started_now};
    end
    always @* if (started) begin
        assert (due == then_due[1] && last_epoch == then_epoch[1] && any == then_started[1]);
        assert (\dut.current_q == odd);
    end

    // What is judged was compared with what the registers held then, and with the delimiter before it; and what these became since.
`define RECENT(difference) ((difference) >= 32'hffffffc0)
    wire epoch_stays = epochs[1] == then_epoch[0], epoch_follows = epochs[1] == epochs[2];
    always @* if (started) begin
        if (came[1]) begin
            assert ((\dut.succession.foresight_0.to_due.same_number_q && \dut.succession.foresight_0.to_due.same_epoch_q ) == (epoch_stays && numbers[1] == then_due[0]));
            assert ((!\dut.succession.foresight_0.to_due.same_epoch_q || !\dut.succession.foresight_0.to_due.is_behind_q || \dut.succession.foresight_0.to_due.is_behind_later_q ) == !(epoch_stays && `RECENT(numbers[1] - then_due[0])));
            assert ((\dut.succession.foresight_0.to_behind.same_number_q && \dut.succession.foresight_0.to_behind.same_epoch_q ) == (epoch_stays && numbers[1] == then_due[0] + 1));
            assert ((!\dut.succession.foresight_0.to_behind.same_epoch_q || !\dut.succession.foresight_0.to_behind.is_behind_q || \dut.succession.foresight_0.to_behind.is_behind_later_q ) == !(epoch_stays && `RECENT(numbers[1] - then_due[0] - 1)));
            assert (\dut.succession.foresight_0.of_next_q == (epochs[1] == then_next_epoch && numbers[1] == then_next));
        end
        if (came[1] && came[2]) begin
            assert ((\dut.succession.foresight_0.to_former_0.same_number_q && \dut.succession.foresight_0.to_former_0.same_epoch_q ) == (epoch_follows && numbers[1] == numbers[2] + 1));
            assert ((!\dut.succession.foresight_0.to_former_0.same_epoch_q || !\dut.succession.foresight_0.to_former_0.is_behind_q || \dut.succession.foresight_0.to_former_0.is_behind_later_q ) == !(epoch_follows && `RECENT(numbers[1] - numbers[2] - 1)));
        end
        assert (\dut.succession.due_of_0_q == first_counts && \dut.succession.due_behind_q == first[1]);
        if (\dut.succession.next_of_0_q ) assert (came[2] && next_now == numbers[2] + 1 && next_epoch_now == epochs[2]);
        else assert (next_now == then_next && next_epoch_now == then_next_epoch);
    end

    // A verdict on its way, by what came and what was known; and what is known behind it.
`define ON_ITS_WAY(name, verdict, came_i, asked_i, number_i, epoch_i, due_then, epoch_then, started_then, due_next, epoch_next, started_next) \
    wire name = came_i && verdict[9:7] == 0; \
    always @* if (started) begin \
        assert ((verdict[0] || verdict[6:4] != 0) == (asked_i || name)); \
        if (verdict[0]) assert (verdict[6:4] == 0); \
        assert (verdict[9:7] <= came_i && verdict[6:4] <= 1 && verdict[12:10] == 0); \
        assert (verdict[1] == (verdict[0] && !name)); \
        assert (verdict[2] == (verdict[0] && name && (number_i != due_then || epoch_i != epoch_then))); \
        assert (due_next == (name ? number_i + 1 : verdict[0] ? due_then + 1 : due_then)); \
        assert (epoch_next == (name ? epoch_i : epoch_then)); \
        assert (started_next == (started_then || verdict[0])); \
        if (verdict[0]) assert (ended == (name ? number_i : due_then)); \
        if (verdict[0] && !verdict[3]) assert (any && ended == last + 1); \
        if (name && started_then && epoch_i == epoch_then) assert (number_i - due_then < 32'hffffffc1); \
    end
    wire [12:0] first = \dut.to_end.stage_1 , second = \dut.to_end.q ;
    `ON_ITS_WAY(first_counts, first, came[2], asked[2], numbers[2], epochs[2], then_due[0], then_epoch[0], then_started[0], due_now, epoch_now, started_now)
    `ON_ITS_WAY(second_counts, second, came[3], asked[3], numbers[3], epochs[3], then_due[1], then_epoch[1], then_started[1], then_due[0], then_epoch[0], then_started[0])

    wire [1:0] way = {second[0], first[0]};
    // The count of the least interval: what is left of it, a cycle behind; and what was judged one or two cycles ago.
    (* hierconn *) wire [31:0] \dut.length.left_q ;
    (* hierconn *) wire \dut.length.too_soon_q , \dut.has_ended_q ;
    always @* if (started) begin
        assert (\dut.has_ended_q == first[0]);
        assert (since != 0 && since <= 33'h100000000);
        if (second[0]) assert (\dut.length.left_q == least_before);
        else assert (\dut.length.left_q == 0 ? since >= taken : since + \dut.length.left_q == taken);
        assert (\dut.length.too_soon_q == (since + 2 < taken));
        if (first[0]) assert (since + 1 >= taken);
        if (first[6:4] != 0 && !busy[0] && !second[0] && since > 1) assert (since + 1 < taken);
    end
    wire [31:0] ahead = \dut.succession.successor_number_q - 1 - due_now;
    always @* if (started) begin
        assert (way != 3);
        assert (\dut.pending_q == (way != 0));
        if (way != 0) assert (!drain_busy && running);
        if (any && way == 0) assert (last == ended);
        if (started_now) assert (\dut.succession.begun_number_q == ended + 1);
        if (started_now && !\dut.succession.lost_q ) assert (due_now == ended + 1);
        if (started_now && \dut.succession.has_candidate_q && \dut.succession.successor_epoch_q == epoch_now)
            assert (ahead != 0 && ahead < 32'hffffffc0);
    end
`endif
endmodule
