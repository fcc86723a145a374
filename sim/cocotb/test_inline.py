"""The inline design in the stream between cocotbext-axi's source and sink, compared with the model."""

import cocotb
from bench import (
    CONTROL_FRAMES,
    DELIMITER_GAPS,
    DELIMITERS,
    INTERVAL,
    INTERVAL_END,
    PTP_LOCKED,
    RUNNING,
    SNAPSHOT,
    STATUS,
    TIMESTAMP,
    Registers,
    reset,
    stream,
    vectors,
)
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiStreamFrame, AxiStreamSink, AxiStreamSource

CLOCK_SYNCHRONISED, CLOCK_PERIOD, CLOCK_VALUE, CLOCK_COMMAND, SET = 0x6C, 0x70, 0x80, 0x88, 1


async def stop_clock(dut, registers, value):
    """Stops the clock, and declares it synchronised."""
    await registers.write(CLOCK_PERIOD, 0, 2)
    await registers.write(CLOCK_VALUE, value, 2)
    await registers.write(CLOCK_COMMAND, SET)
    await registers.write(CLOCK_SYNCHRONISED, 1)
    await ClockCycles(dut.clk, 10)
    await registers.write(SNAPSHOT, 1)
    assert await registers.read(TIMESTAMP, 2) == value


@cocotb.test(timeout_time=100, timeout_unit="us")
async def stream_and_intervals(dut):
    expected = vectors()
    await reset(dut, ["interval_end", "s_axis_tvalid", "m_axis_tready"])
    registers = Registers(dut)
    source = stream(AxiStreamSource, dut, "s_axis")
    sink = stream(AxiStreamSink, dut, "m_axis")
    await registers.identify(expected["configuration"], has_clock=1)
    await registers.running()
    await stop_clock(dut, registers, expected["clock"])
    assert await registers.read(STATUS) == RUNNING | PTP_LOCKED

    async def receive(traffic, inserted):
        """Receives all these, each kind in order, and returns the sequence of kinds; only traffic carries the time."""
        kinds = []
        left = {True: list(traffic), False: list(inserted)}
        while any(left.values()):
            frame = await sink.recv()
            passed = frame.tuser != 0
            assert left[passed], (passed, frame)
            assert (bytes(frame.tdata).hex(), frame.tuser) == left[passed].pop(0)
            kinds.append(passed)
        return kinds

    control_frames = 0
    for number, interval in enumerate(expected["intervals"]):
        for frame in interval["frames"]:
            await source.send(AxiStreamFrame(bytes.fromhex(frame["bytes"]), tuser=frame["bad"]))
        traffic = [(frame["bytes"], frame["timestamp"] << 1 | frame["bad"]) for frame in interval["frames"]]
        kinds = await receive(traffic, [(frame, 0) for frame in interval["control_frames"]])
        # Within the traffic, not after it: a frame sent while nothing waits would prove nothing.
        assert kinds[-1] or not interval["control_frames"], kinds
        control_frames += len(interval["control_frames"])
        # The last frame is counted some cycles after its last beat.
        await ClockCycles(dut.clk, 20)
        assert await registers.counts() == interval["counts"]
        assert await registers.read(INTERVAL) == number
        assert await registers.read(CONTROL_FRAMES) == control_frames
        await registers.write(INTERVAL_END, 1)
        await receive([], [(interval["delimiter"], 0)])
    await receive([], [(frame, 0) for frame in expected["control_frames"]])
    control_frames += len(expected["control_frames"])
    await ClockCycles(dut.clk, 50)
    await registers.write(SNAPSHOT, 1)
    assert await registers.read(CONTROL_FRAMES) == control_frames
    assert await registers.read(DELIMITERS) == len(expected["intervals"])
    # None was missing: the first interval, which no delimiter began, is no gap among delimiters.
    assert await registers.read(DELIMITER_GAPS) == 0
    assert sink.empty()
