// succession: with a key no delimiter counts without its tag.
//
// Proven for two lanes, without bound on time, for any inputs, while keyed:
//   * where no delimiter has a tag that is ready and expected, whatever the registers hold, only a request ends the interval or
//     is refused;
//   * no two delimiters of one cycle count: what the second one's tag would have to be is not known yet;
//   * the number that is due stays, and its tag with it, unless due_changes says otherwise, the candidate's successor
//     likewise.
module succession_proof(
    input wire clk,
    input wire rst,
    input wire [1:0] delimiter,
    input wire [31:0] number_0,
    input wire [31:0] number_1,
    input wire [31:0] epoch_0,
    input wire [31:0] epoch_1,
    input wire [1:0] due_signed,
    input wire [1:0] next_signed,
    input wire keyed,
    input wire due_ready,
    input wire next_ready,
    input wire request,
    input wire running,
    input wire busy
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);

    wire ends, timed, missing, gap, due_changes, next_changes;
    wire [2:0] refused, ignored, ignored_behind;
    wire [31:0] due, due_epoch, next_number, next_epoch, ended, begun;
    succession dut(
        .clk(clk), .rst(rst), .delimiter_0(delimiter[0]), .delimiter_1(delimiter[1]), .delimiter_number_0(number_0),
        .delimiter_number_1(number_1), .delimiter_epoch_0(epoch_0), .delimiter_epoch_1(epoch_1),
        .due_signed_0(due_signed[0]), .due_signed_1(due_signed[1]), .next_signed_0(next_signed[0]),
        .next_signed_1(next_signed[1]), .keyed(keyed), .due_ready(due_ready), .next_ready(next_ready),
        .request(request), .running(running), .busy(busy), .ends(ends), .timed(timed), .missing(missing), .gap(gap),
        .refused(refused), .ignored(ignored), .ignored_behind(ignored_behind), .due(due), .due_epoch(due_epoch),
        .next_number(next_number), .next_epoch(next_epoch), .due_changes(due_changes),
        .next_changes(next_changes), .ended(ended), .begun(begun)
    );

    // What came two cycles before, and is judged.
    reg asked = 0, held = 0;
    reg [1:0] came = 0, has_due = 0, has_next = 0, held_came = 0, held_due = 0, held_next = 0;
    reg [63:0] was_due = 0, was_next = 0;
    reg changed = 1, other = 1;
    always @(posedge clk) begin
        {asked, held} <= rst ? 0 : {held, request};
        {came, held_came} <= rst ? 0 : {held_came, delimiter};
        {has_due, held_due} <= rst ? 0 : {held_due, due_signed};
        {has_next, held_next} <= rst ? 0 : {held_next, next_signed};
        was_due <= {due, due_epoch};
        was_next <= {next_number, next_epoch};
        changed <= rst || due_changes;
        other <= rst || next_changes;
    end
    wire [1:0] believed = came & ((has_due & {2{due_ready}}) | (has_next & {2{next_ready}}));
    wire [2:0] answers = refused + ends;
    always @* if (started) begin
        if (keyed && believed == 0) assert (answers == (asked && running) && ends == timed && !missing);
        if (keyed) assert (answers <= 1);
        if (!changed) assert ({due, due_epoch} == was_due);
        if (!other) assert ({next_number, next_epoch} == was_next);
    end
    always @* if (started && !rst) begin
        cover (keyed && ends && !timed && missing && came == 2);
        cover (keyed && ends && !timed && !missing && came == 3 && due == 5 && ignored_behind == 1);
        cover (keyed && refused == 1 && !asked);
    end
endmodule
