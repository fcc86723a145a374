"""A tap with a key among delimiters of somebody without it; tags are made by another hand than the model's."""

import cocotb
from ascon import tag_of_frame
from bench import CONTROL, INTERVAL, INTERVAL_END, POINT_ID, SNAPSHOT, STATUS, Registers, reset, stream, vectors
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiStreamFrame, AxiStreamSink, AxiStreamSource

RECEIVER, KEY_PENDING = 1, 1 << 5
KEY_LOW, KEY_HIGH, KEY_ID, KEY_FROM, KEY_SCHEDULE = 0xA8, 0xB0, 0xB8, 0xBC, 0xC0
# Cycles until the tags of both delimiters that may come next are known: docs/authentication.md.
TAGS = 4200


async def schedule(registers, key):
    """Gives the tap a key, which nobody can read."""
    secret = bytes.fromhex(key["secret"])
    for address, half in [(KEY_LOW, secret[:8]), (KEY_HIGH, secret[8:])]:
        await registers.write(address, int.from_bytes(half, "little"), 2)
        assert await registers.read(address, 2) == 0
    await registers.write(KEY_ID, key["id"])
    await registers.write(KEY_FROM, key["from"])
    assert not await registers.read(STATUS) & KEY_PENDING
    await registers.write(KEY_SCHEDULE, 1)
    assert await registers.read(STATUS) & KEY_PENDING
    assert await registers.refused(KEY_LOW, 0)


def is_delimiter(frame):
    return frame[12:16] == b"\x88\xb5\x01\x02"


def is_signed(frame, key):
    """Whether a frame has the tag of this key, and names it."""
    at, tag = tag_of_frame(bytes.fromhex(key["secret"]), frame)
    names = 36 if is_delimiter(frame) else 124
    return frame[at : at + 16] == tag and frame[names : names + 2] == key["id"].to_bytes(2, "big")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def forged_delimiters_end_nothing(dut):
    expected = vectors()
    await reset(dut, ["interval_end", "ptp_ts", "ptp_locked", "s_axis_tvalid", "s_axis_tready", "m_axis_tready"])
    dut.ptp_locked.value = 1
    dut.s_axis_tready.value = 1
    registers = Registers(dut)
    source = stream(AxiStreamSource, dut, "s_axis")
    sink = stream(AxiStreamSink, dut, "m_axis")
    await registers.write(CONTROL, RECEIVER)
    await registers.write(POINT_ID, expected["point_id"])
    await registers.running()

    async def send(frame):
        user = frame["timestamp"] << 1 | frame["bad"]
        await source.send(AxiStreamFrame(bytes.fromhex(frame["bytes"]), tuser=user))

    async def running_interval():
        await source.wait()
        # The last frame is counted some cycles after its last beat.
        await ClockCycles(dut.clk, 20)
        await registers.write(SNAPSHOT, 1)
        return await registers.read(INTERVAL)

    key, ended = None, 0
    for interval in expected["intervals"]:
        if interval["key"]:
            key = interval["key"]
            await schedule(registers, key)
        for step in interval["steps"]:
            frames = step["frames"]
            delimiters = [frame for frame in frames if is_delimiter(bytes.fromhex(frame["bytes"]))]
            # Of them the last one alone is genuine.
            signed = [is_signed(bytes.fromhex(frame["bytes"]), key) for frame in delimiters]
            assert signed == [frame is delimiters[-1] for frame in delimiters], signed
            for frame in frames:
                if delimiters and frame is delimiters[0]:
                    # Before its tag is known the genuine one would be refused with all others.
                    await source.wait()
                    await ClockCycles(dut.clk, TAGS)
                if delimiters and frame is delimiters[-1]:
                    assert await running_interval() == ended
                    assert sink.empty()
                await send(frame)
        if not delimiters:
            await source.wait()
            await registers.write(INTERVAL_END, 1)
        for wanted in interval["control_frames"]:
            frame = await sink.recv()
            assert bytes(frame.tdata).hex() == wanted
            assert is_signed(bytes(frame.tdata), key)
        assert not await registers.read(STATUS) & KEY_PENDING
        ended = int.from_bytes(bytes.fromhex(interval["control_frames"][0])[20:24], "big") + 1
    assert await running_interval() == ended
    assert sink.empty()
