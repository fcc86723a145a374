// interval: drains never overlap, no end is lost without a report, and the numbers follow the delimiters.
//
// Proven, without bound on time, for any inputs:
//   * start_drain comes only while running and not drain_busy: two drains never overlap;
//   * while the core is running, every request and every delimiter is answered in its cycle by exactly one signal:
//     start_drain, or refused when the drain is busy. Nothing else is answered;
//   * the epoch changes after every start_drain and at no other time;
//   * an interval that a delimiter ends gets the delimiter's number. Any other gets the number after its
//     predecessor's, and the first is zero. `number` is that of the interval that ended last, `running_number` the
//     one that is due;
//   * gap reports exactly the ends by a delimiter whose number was not due, and the first end.
//
// Assumed: `unexpected` means what its name says, as aggregator.v proves. Otherwise only a reset at the start,
// which may come again at any time.
module interval_proof(
    input wire clk,
    input wire rst,
    input wire request,
    input wire delimiter,
    input wire [31:0] delimiter_number,
    input wire running,
    input wire drain_busy
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire epoch, start_drain, gap, refused;
    wire [31:0] number, running_number;
    interval dut(
        .clk(clk), .rst(rst), .request(request), .delimiter(delimiter), .delimiter_number(delimiter_number),
        .unexpected(delimiter_number != running_number),
        .running(running), .drain_busy(drain_busy), .epoch(epoch), .number(number), .running_number(running_number),
        .start_drain(start_drain), .gap(gap), .refused(refused)
    );

    // The history since the last reset: whether the number of ends was odd, and the last interval's number.
    reg odd = 0, any = 0;
    reg [31:0] last = 0;
    wire [31:0] due = any ? last + 1 : 0;
    wire answered = start_drain || refused;
    always @(posedge clk) begin
        if (start_drain) begin
            odd <= !odd;
            any <= 1;
            last <= delimiter ? delimiter_number : due;
        end
        if (rst) {odd, any, last} <= 0;
    end

    always @* if (started) begin
        if (start_drain) assert (!drain_busy && !refused);
        if (refused) assert (drain_busy);
        assert (answered == (running && (request || delimiter)));
        assert (epoch == odd);
        assert (number == last);
        assert (running_number == due);
        assert (gap == (start_drain && (delimiter && delimiter_number != due || !any)));
    end
    always @* if (started && !rst) begin
        cover (start_drain && epoch && !delimiter);
        cover (start_drain && request && delimiter && !gap && number == 7);
        cover (gap && epoch);
        cover (refused && delimiter);
        cover (number == 32'hffffffff && running_number == 0 && start_drain && delimiter && !gap);
    end

`ifdef INVARIANTS
    (* hierconn *) wire \dut.started_q ;
    wire has_started = \dut.started_q ;
    always @* if (started) assert (has_started == any);
`endif
endmodule
