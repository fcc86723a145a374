// emitter: every cell leaves exactly once and is cleared exactly once, in frames that keep the rules of
// AXI4-Stream.
//
// Proven, without bound on time, for an arbitrary cell and any behaviour of m_axis_tready:
//   * AXI4-Stream: tvalid stays high and the beat stays unchanged until it is taken;
//   * a frame has exactly BEATS beats, with tlast on the last and only there; an interval has exactly FRAMES
//     frames, numbered by segment, fragment, bank and first row of their headers, class by class;
//   * the chosen cell's two parts leave at their places in their frame, and only there. It is cleared exactly once,
//     after it was read. No clear happens outside a drain, and none in both copies while running;
//   * the address stays for a cycle after every clear, and is stable for four cycles before a cell is read;
//   * after reset clear_all visits every cell before running rises, 2 * CELLS cycles after the reset; nothing is
//     sent before that;
//   * a start while not busy is followed by busy, which falls after the last frame's last beat and not before; at
//     most six cycles pass between the words of a drain.
//
// Assumed: the drained cell is the content of the chosen one when its address has been stable for four cycles, and
// unconstrained otherwise, as lda.v proves. A start may come at any time, and so may a reset.
//
// Parameters: A, ROWS, BANKS, CLASSES, and WORDS, the words of a class. The proof holds for the emitted sizes; the
// covers and the faults use the smallest.
`define FRAGMENT (`ROWS < 128 ? `ROWS : 128)
`define CLASS_CELLS (`ROWS * `BANKS)
`define CELLS (`CLASS_CELLS * `CLASSES)
// The address of the n-th cell sent, and its inverse.
`define ADDRESS(n) ((n) / `CLASS_CELLS * `WORDS + (n) % `CLASS_CELLS)
`define INDEX(a) ((a) / `WORDS * `CLASS_CELLS + (a) % `WORDS)
`define FRAMES (`CELLS / `FRAGMENT)
`define HEADER 17
`define BEATS (`HEADER + `FRAGMENT / 8 * 9 + 3)

module emitter_proof(
    input wire clk,
    input wire rst,
    input wire start,
    input wire receiver,
    input wire [31:0] interval,
    input wire [47:0] packets,
    input wire [47:0] bytes,
    input wire [63:0] first,
    input wire [63:0] last,
    input wire [31:0] unmeasured,
    input wire [31:0] bad,
    input wire [15:0] refused_ends,
    input wire [15:0] ignored_delimiters,
    input wire [4:0] flags,
    input wire [63:0] time_sum,
    input wire [31:0] digest_sum,
    input wire [55:0] absolute_time,
    input wire [31:0] point_id,
    input wire [63:0] prefixes,
    input wire [71:0] anything,
    input wire m_axis_tready
);
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);
`ifdef TRACE
    // One trace is enough to reach, or to break, every case.
    always @* assume (rst == !started && start && m_axis_tready == (beat[1:0] != stalls));
    reg [1:0] stalls = 0;
    always @(posedge clk) stalls <= stalls + 1;
`endif

    // The chosen cell: in the order of sending, and its address.
    (* anyconst *) wire [`A-1:0] chosen;
    (* anyconst *) wire [71:0] content;
    always @* assume (chosen < `CELLS);
    wire [`A-1:0] chosen_address = `ADDRESS(chosen);
    wire [`A-1:0] chosen_frame = chosen / `FRAGMENT;
    wire [`A-1:0] place = chosen % `FRAGMENT;

    wire [`A-1:0] drain_address;
    wire clear, clear_all, busy, running, m_axis_tvalid, m_axis_tlast, m_axis_tuser;
    wire [63:0] m_axis_tdata;
    wire [7:0] m_axis_tkeep;
    wire [71:0] drained_cell = settled == 4 ? content : anything;
    emitter dut(
        .clk(clk), .rst(rst), .start(start), .receiver(receiver), .interval(interval), .packets(packets),
        .bytes(bytes), .first(first), .last(last), .unmeasured(unmeasured), .bad(bad), .refused_ends(refused_ends), .ignored_delimiters(ignored_delimiters),
        .flags(flags), .time_sum(time_sum), .digest_sum(digest_sum), .absolute_time(absolute_time),
        .point_id(point_id), .mixing_id(32'd0), .prefixes(prefixes), .drained_cell(drained_cell), .drain_address(drain_address), .clear(clear),
        .clear_all(clear_all), .busy(busy), .running(running),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser)
    );

    // The number of cycles for which the drain has shown the chosen cell.
    reg [2:0] settled = 0;
    always @(posedge clk) begin
        if (rst || clear || clear_all || drain_address != chosen_address) settled <= 0;
        else if (settled < 4) settled <= settled + 1;
    end

    // The state of this drain: cells cleared in all and in this frame, how often the chosen one was cleared, and
    // frames and beats taken. After reset: cycles, and whether the chosen cell was cleared.
    reg draining;
    reg [`A:0] total, done;
    reg [1:0] clears;
    reg [`A:0] frame;
    reg [9:0] beat;
    reg [3:0] gap;
    reg [`A+1:0] since_reset;
    reg visited;
    wire taken = m_axis_tvalid && m_axis_tready;
    wire ends = taken && m_axis_tlast && frame == `FRAMES - 1;
    always @(posedge clk) begin
        if (rst) begin
            {draining, total, done, clears, frame, beat, gap, since_reset, visited} <= 0;
        end else begin
            if (!running) since_reset <= since_reset + 1;
            if (clear_all && drain_address == chosen_address) visited <= 1;
            if (start && !busy) begin
                draining <= 1;
                {total, done, clears, frame, beat} <= 0;
            end
            if (ends) draining <= 0;
            if (clear) total <= total + 1;
            if (clear) done <= done + 1;
            if (clear && drain_address == chosen_address && clears != 3) clears <= clears + 1;
            gap <= draining && !m_axis_tvalid ? gap + 1 : 0;
            if (taken) begin
                beat <= beat + 1;
                if (m_axis_tlast) begin
                    beat <= 0;
                    done <= 0;
                    frame <= frame + 1;
                end
            end
        end
    end

    // The cycle before.
    reg rst_before = 1, tvalid_before, tready_before, clear_before, clear_all_before, start_before, busy_before;
    reg running_before;
    reg [73:0] beat_before;
    reg [`A-1:0] address_before;
    always @(posedge clk) begin
        rst_before <= rst;
        {tvalid_before, tready_before, clear_before, clear_all_before} <= {m_axis_tvalid, m_axis_tready, clear, clear_all};
        {start_before, busy_before, running_before} <= {start, busy, running};
        beat_before <= {m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser};
        address_before <= drain_address;
    end

    // Words are sent with their first byte in the lowest lane.
    function [63:0] swap(input [63:0] word);
        swap = {word[7:0], word[15:8], word[23:16], word[31:24], word[39:32], word[47:40], word[55:48], word[63:56]};
    endfunction
    wire [63:0] cell_word = {content[71:40], content[31:0]};
    wire [63:0] sent = swap(m_axis_tdata);
    wire [`A:0] frame_start = frame * `FRAGMENT;
    wire [`A:0] frame_class = frame_start / `CLASS_CELLS;
    wire [`A:0] class_frame = frame % (`CLASS_CELLS / `FRAGMENT);

    always @* if (started) begin
        assert (m_axis_tkeep == 8'hff && !m_axis_tuser);
        if (!rst_before && tvalid_before && !tready_before) begin
            assert (m_axis_tvalid && beat_before == {m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser});
        end
        if (m_axis_tvalid) begin
            assert (draining && running && frame < `FRAMES);
            assert (m_axis_tlast == (beat == `BEATS - 1));
            if (beat == 2) assert (sent[63:32] == frame_class);
            if (beat == 4) assert (sent[63:48] == class_frame && sent[23:16] == frame_start % `CLASS_CELLS / `ROWS);
            if (beat == 5) assert (sent[63:32] == frame_start % `ROWS);
            if (frame == chosen_frame && beat == `HEADER + place + place / 8) assert (sent == cell_word);
            if (frame == chosen_frame && beat == `HEADER + place / 8 * 9 + 8) begin
                assert (m_axis_tdata[8 * place[2:0] +: 8] == content[39:32]);
            end
        end
        if (clear) assert (draining && running && !clear_all && `ADDRESS(total) == drain_address);
        if (clear_all) assert (!running);
        if (!rst_before && (clear_before || clear_all_before)) assert (drain_address == address_before);
        if (ends) assert (total == `CELLS && clears == 1);
        assert (clears <= 1);
        if (running) assert (visited);
        if (!running) assert (busy && !m_axis_tvalid && since_reset < 2 * `CELLS);
        if (running) assert (busy == draining);
        if (!rst_before && running_before) assert (running);
        if (!rst_before && start_before && !busy_before) assert (busy);
        assert (gap < 6 || m_axis_tvalid);
    end
    always @* begin
        if (started) cover (running && !running_before);
        if (started) cover (m_axis_tvalid && !m_axis_tready);
        if (started) cover (m_axis_tvalid && frame == chosen_frame && beat == `HEADER + place + place / 8 && &cell_word);
        if (started) cover (m_axis_tvalid && m_axis_tlast);
        if (started) cover (ends);
    end

`ifdef INVARIANTS
    (* hierconn *) wire [3:0] \dut.state_q ;
    (* hierconn *) wire [4:0] \dut.step_q ;
    (* hierconn *) wire [2:0] \dut.section_q ;
    (* hierconn *) wire [63:0] \dut.front.header_word_q , \dut.pack.chosen_q , \dut.pack.tops_q ;
    (* hierconn *) wire [16:0] \dut.header_step_q ;
    (* hierconn *) wire \dut.clearing_q , \dut.clears_not_all_q , \dut.is_idle_q ;
    (* hierconn *) wire \dut.walk.is_first_q , \dut.walk.is_last_q , \dut.walk.ends_block_q , \dut.walk.ends_fragment_q , \dut.taking_q ;
    wire [3:0] state = \dut.state_q ;
    wire [4:0] step = \dut.step_q ;
    wire [2:0] section = \dut.section_q ;
    wire [63:0] word = \dut.pack.chosen_q ;
    wire [63:0] tops = \dut.pack.tops_q ;
    // The word being sent was read before.
    wire sending = state == 7 || state == 8;
    wire [`A:0] before = done - 1;
    wire [`A:0] read = total + (state == 6 && step == 1);
    wire [`A:0] behind = read - 1 - chosen;
    wire [`A:0] group = chosen / 8 * 8;
    always @* if (started) begin
        assert (state <= 8 && state != 3 && section <= 4 && settled <= 4);
        assert (running == (state >= 2));
        assert (\dut.clearing_q == (state == 6 && step == 1) && \dut.clears_not_all_q == (state != 0));
        assert (\dut.is_idle_q == (state == 2) && \dut.taking_q == (state == 6 && step == 0));
        if (!rst_before && drain_address == address_before) begin
            assert (\dut.walk.is_first_q == (drain_address == 0) && \dut.walk.is_last_q == (drain_address == `ADDRESS(`CELLS - 1)));
            assert (\dut.walk.ends_block_q == (drain_address % 8 == 0));
            assert (\dut.walk.ends_fragment_q == (drain_address % `FRAGMENT == 0));
        end
        assert (draining == (state >= 4));
        assert (m_axis_tvalid == (state == 8));
        assert (m_axis_tlast == (state == 8 && section == 4));
        assert (drain_address / `WORDS < `CLASSES && drain_address % `WORDS < `CLASS_CELLS);
        if (state < 2) begin
            assert (step == 0 && section == 0 && since_reset == 2 * `INDEX(drain_address) + state);
            assert (visited == (drain_address > chosen_address || (drain_address == chosen_address && state == 1)));
        end
        if (state == 2) assert (drain_address == 0 && step == 0 && section == 0);
        if (state == 6) assert (section == 1 && step <= 2);
        if (draining) begin
            assert (total == frame_start + done && total <= `CELLS && frame < `FRAMES && done <= `FRAGMENT);
            assert (clears == (total > chosen));
            if (state == 6 && step == 2) assert (total == `INDEX(drain_address) + 1);
            else assert (drain_address == (total == `CELLS ? 0 : `ADDRESS(total)));
        end
        if (draining) case (section)
            0: assert (beat == step && step < `HEADER && done == 0 && state != 6 && \dut.header_step_q == 1 << step);
            1: begin
                if (sending || (state == 6 && step == 2)) begin
                    assert (done >= 1 && beat == `HEADER + before + before / 8);
                end else begin
                    assert (done < `FRAGMENT && beat == `HEADER + done + done / 8);
                end
            end
            2: assert (done >= 8 && done % 8 == 0 && beat == `HEADER + done + done / 8 - 1);
            3: assert (done == `FRAGMENT && step <= 1 && beat == `HEADER + `FRAGMENT / 8 * 9 + step);
            4: assert (done == `FRAGMENT && beat == `BEATS - 1);
        endcase
        if (state == 4) assert (gap == 0);
        if (state == 5) assert (gap == 1);
        if (state == 6) assert (gap == 2 + step);
        if (state == 7) assert (gap == (section == 1 ? 5 : 2));

        // The header's words of this frame.
        if (draining && section == 0 && step == 2) begin
            if (state == 5) assert (\dut.front.header_word_q [63:32] == frame_class);
            if (state == 7) assert (word[63:32] == frame_class);
        end
        if (draining && section == 0 && step == 4) begin
            if (state == 5) assert (\dut.front.header_word_q [63:48] == class_frame);
            if (state == 5) assert (\dut.front.header_word_q [23:16] == frame_start % `CLASS_CELLS / `ROWS);
            if (state == 7) assert (word[63:48] == class_frame && word[23:16] == frame_start % `CLASS_CELLS / `ROWS);
        end
        if (draining && section == 0 && step == 5) begin
            if (state == 5) assert (\dut.front.header_word_q [63:32] == frame_start % `ROWS);
            if (state == 7) assert (word[63:32] == frame_start % `ROWS);
        end

        // The chosen cell: shown long enough, read, sent; its top byte is collected with those of its group.
        if (draining && drain_address == chosen_address && total == chosen) begin
            if (state == 8) assert (settled >= 1);
            if (state == 4 && beat != 0) assert (settled >= 2);
            if (state == 5 && beat != 0) assert (settled >= 3);
            if (state == 6 && step == 0) assert (settled == 4);
            if (state == 6 && step == 1) assert (word == cell_word);
        end
        if (draining && total == chosen + 1) begin
            if (state == 6 && step == 2) assert (word == cell_word);
            if (state == 7 && section == 1) assert (word == cell_word);
        end
        if (draining && read > chosen && read <= group + 8) begin
            if (section == 1 && (sending || (state == 6 && step != 0) || read % 8 != 0)) begin
                assert (tops[8 * behind[2:0] +: 8] == content[39:32]);
            end
            if (section == 2 && !sending) assert (tops[8 * (7 - chosen[2:0]) +: 8] == content[39:32]);
            if (section == 2 && state == 7) assert (word[8 * (7 - chosen[2:0]) +: 8] == content[39:32]);
        end
    end
`endif
endmodule
