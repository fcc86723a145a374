// inserter: properties of deltaline_hdl::inline::inserter, 64 bits wide, in any surroundings.
//
// Bounded proof from reset and induction over one cycle (yosys-smtbmc, yices). The chosen beat below is any beat:
// its number is an arbitrary constant. Numbers wrap around at 16, and at most two beats are ever inside.
//
// | what | where |
// |------|-------|
// | no beat is dropped, doubled, reordered or changed, inserted or not | the chosen beat |
// | latency of one cycle when m_axis does not stall | "valid while a beat is inside" |
// | AXI4-Stream on m_axis | "held while it waits" |
// | frames are whole: the switch turns between frames only | "whole frames" |
// | traffic is stalled only by inserted beats and by m_axis | "the stall" |
// | traffic that waits goes between two inserted frames | "let through" |
// | urgent or overdue frames take the next boundary; others go only in a pause | "the turn" |
//
// Lines marked "inductive" relate internal registers to what is seen outside; they are proven too.
module inserter_proof(
    input clk,
    input [63:0] s_tdata, input [7:0] s_tkeep, input s_tvalid, input s_tlast, input [64:0] s_tuser,
    input [63:0] i_tdata, input [7:0] i_tkeep, input i_tvalid, input i_tlast, input urgent,
    input m_tready
);
    wire s_tready, i_tready, m_tvalid, m_tlast;
    wire [63:0] m_tdata;
    wire [7:0] m_tkeep;
    wire [64:0] m_tuser;

    reg started = 0;
    always @(posedge clk) started <= 1;

    inserter dut(
        .clk(clk), .rst(!started),
        .s_axis_tdata(s_tdata), .s_axis_tkeep(s_tkeep), .s_axis_tvalid(s_tvalid), .s_axis_tready(s_tready),
        .s_axis_tlast(s_tlast), .s_axis_tuser(s_tuser),
        .i_axis_tdata(i_tdata), .i_axis_tkeep(i_tkeep), .i_axis_tvalid(i_tvalid), .i_axis_tready(i_tready),
        .i_axis_tlast(i_tlast), .urgent(urgent),
        .m_axis_tdata(m_tdata), .m_axis_tkeep(m_tkeep), .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready),
        .m_axis_tlast(m_tlast), .m_axis_tuser(m_tuser));

    // Internal registers, for the inductive lines.
    (* hierconn *) wire \dut.inserting_q ;
    (* hierconn *) wire \dut.in_frame_q ;
    (* hierconn *) wire \dut.skid_valid_q ;
    (* hierconn *) wire [7:0] \dut.waited_q ;
    (* hierconn *) wire [63:0] \dut.skid_data_q ;
    (* hierconn *) wire [7:0] \dut.skid_keep_q ;
    (* hierconn *) wire \dut.skid_last_q ;
    (* hierconn *) wire [64:0] \dut.skid_user_q ;
    wire inserting = \dut.inserting_q ;
    wire skid_valid = \dut.skid_valid_q ;
    wire [137:0] skid = {\dut.skid_user_q , \dut.skid_last_q , \dut.skid_keep_q , \dut.skid_data_q };

    wire [137:0] s_beat = {s_tuser, s_tlast, s_tkeep, s_tdata};
    wire [137:0] i_beat = {65'd0, i_tlast, i_tkeep, i_tdata};
    wire [137:0] m_beat = {m_tuser, m_tlast, m_tkeep, m_tdata};
    wire s_taken = s_tvalid && s_tready;
    wire i_taken = i_tvalid && i_tready;
    wire m_taken = m_tvalid && m_tready;

    // The surroundings: s_axis keeps AXI4-Stream, and a frame offered on i_axis comes without a gap.
    reg s_waits = 0, i_comes = 0;
    reg [137:0] s_held;
    always @(posedge clk) begin
        s_waits <= started && s_tvalid && !s_tready;
        s_held <= s_beat;
        i_comes <= started && i_tvalid && !(i_taken && i_tlast);
    end
    always @(*) if (started) begin
        if (s_waits) assume (s_tvalid && s_beat == s_held);
        if (i_comes) assume (i_tvalid);
    end

    // What has happened so far.
    reg running = 0; // from the second cycle after reset on
    reg [3:0] accepted = 0, left = 0;
    reg s_inside = 0, i_inside = 0, let_through = 0;
    reg was_stalled = 0, turn_due = 0, may_turn = 0;
    reg [7:0] age = 0;
    reg m_waits = 0;
    reg [137:0] m_held;
    always @(posedge clk) if (started) begin
        running <= 1;
        accepted <= accepted + (s_taken || i_taken);
        left <= left + m_taken;
        if (s_taken) s_inside <= !s_tlast;
        if (i_taken) i_inside <= !i_tlast;
        if (i_taken && i_tlast) let_through <= 0;
        if ((s_taken && s_tlast) || (s_tready && !s_tvalid)) let_through <= 1;
        was_stalled <= m_tvalid && !m_tready;
        m_waits <= m_tvalid && !m_tready;
        m_held <= m_beat;
        age <= !i_tvalid || inserting ? 0 : age == 255 ? 255 : age + 1;
        turn_due <= s_taken && s_tlast && i_tvalid && (urgent || age == 255);
        may_turn <= i_tvalid && ((s_taken && s_tlast && (urgent || age == 255))
            || (s_tready && !s_tvalid && !s_inside));
    end
    reg was_inserting = 0;
    always @(posedge clk) was_inserting <= started && inserting;

    // The chosen beat.
    (* anyconst *) reg [3:0] chosen;
    reg [137:0] chosen_beat;
    always @(posedge clk) if (started && accepted == chosen) begin
        if (s_taken) chosen_beat <= s_beat;
        if (i_taken) chosen_beat <= i_beat;
    end
    wire [3:0] inside = accepted - left;
    wire [3:0] ahead = chosen - left;

    always @(*) if (started) begin
        // The chosen beat.
        assert (!(s_taken && i_taken));
        if (ahead == 0 && inside >= 1) assert (m_beat == chosen_beat);
        if (ahead == 1 && inside == 2) assert (skid == chosen_beat); // inductive
        assert (inside <= 2);
        assert (skid_valid == (inside == 2)); // inductive
        // Valid while a beat is inside.
        assert (m_tvalid == (inside != 0));
        // Held while it waits.
        if (m_waits) assert (m_tvalid && m_beat == m_held);
        // Whole frames.
        if (i_taken) assert (!s_inside);
        if (s_taken) assert (!i_inside);
        assert (\dut.in_frame_q == s_inside); // inductive
        if (inserting) assert (!s_inside); // inductive
        if (i_inside) assert (inserting); // inductive
        // The stall.
        if (running) assert (s_tready || i_taken || was_stalled);
        if (running) assert (s_tready == (!skid_valid && !inserting)); // inductive
        if (running) assert (i_tready == (!skid_valid && inserting)); // inductive
        if (!running) assert (!s_tready && !i_tready && !m_tvalid && !inserting);
        if (skid_valid) assert (was_stalled); // inductive
        if (inserting) assert (i_comes); // inductive
        // Let through.
        if (i_taken && !i_inside) assert (let_through);
        if (inserting && !i_inside) assert (let_through); // inductive
        // The turn.
        assert (\dut.waited_q == age); // inductive
        if (turn_due) assert (inserting);
        if (inserting && !was_inserting) assert (may_turn);
    end

    // Covers: the proofs are not vacuous.
    reg [1:0] inserted = 0;
    reg traffic_between = 0;
    always @(posedge clk) if (started) begin
        if (i_taken && i_tlast && inserted != 3) inserted <= inserted + 1;
        if (s_taken && s_tlast && inserted == 1) traffic_between <= 1;
    end
    always @(*) begin
        cover (inserted == 2 && traffic_between);
        cover (inserting && skid_valid && i_inside);
        cover (s_inside && skid_valid && ahead == 1);
    end
endmodule
