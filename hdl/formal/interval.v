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
//   * no interval ends twice: a delimiter of the epoch of the last one that counted ends no interval whose number is that of one
//     of the 63 before.
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
        .delimiter_epoch_0(delimiter_epoch), .running(running), .drain_busy(drain_busy), .epoch(epoch),
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

    // What came one to four cycles ago, and whether it counted: the core was running a cycle later.
    reg [3:0] asked = 0, came = 0;
    reg [31:0] numbers [0:3];
    reg [31:0] epochs [0:3];
    always @(posedge clk) begin
        asked <= rst ? 0 : {asked[2:1], asked[0] && running, request};
        came <= rst ? 0 : {came[2:1], came[0] && running, delimiter};
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
    always @* if (started && !rst) begin
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
    (* hierconn *) wire [31:0] \dut.succession.due_number_q , \dut.succession.due_epoch_q , \dut.succession.ended_number_q ;
    (* hierconn *) wire [31:0] \dut.succession.next_number_q , \dut.succession.next_epoch_q , \dut.succession.begun_number_q ;
    (* hierconn *) wire [12:0] \dut.to_end.stage_1 , \dut.to_end.stage_2 , \dut.to_end.q ;
    // What the registers held when what is answered now was judged.
    reg [31:0] then_due [0:2];
    reg [31:0] then_epoch [0:2];
    always @(posedge clk) begin
        {then_due[2], then_due[1], then_due[0]} <= rst ? 0 : {then_due[1], then_due[0], \dut.succession.due_number_q };
        {then_epoch[2], then_epoch[1], then_epoch[0]} <= rst ? 0 : {then_epoch[1], then_epoch[0], \dut.succession.due_epoch_q };
    end
    always @* if (started) begin
        assert (due == then_due[2] && last_epoch == then_epoch[2]);
        if (any && way == 0) assert (last == \dut.succession.ended_number_q );
        assert (\dut.current_q == odd);
    end
    wire [2:0] way = {\dut.to_end.q [0], \dut.to_end.stage_2 [0], \dut.to_end.stage_1 [0]};
    wire [31:0] ahead = \dut.succession.next_number_q - 1 - \dut.succession.due_number_q ;
    always @* if (started) begin
        assert (way == 0 || way == 1 || way == 2 || way == 4);
        assert (\dut.pending_q == (way != 0));
        if (way != 0) assert (!drain_busy && running);
        assert (\dut.succession.started_q == (any || way != 0));
        if (\dut.succession.started_q ) assert (\dut.succession.begun_number_q == \dut.succession.ended_number_q + 1);
        if (\dut.succession.started_q && !\dut.succession.lost_q ) assert (\dut.succession.due_number_q == \dut.succession.begun_number_q );
        if (\dut.succession.has_candidate_q && \dut.succession.next_epoch_q == \dut.succession.due_epoch_q )
            assert (ahead != 0 && ahead < 32'hffffffc0);
    end
`endif
endmodule
