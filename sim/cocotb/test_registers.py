"""The register block through cocotbext-axi's AXI4-Lite master."""

import random

import cocotb
from bench import pauses, quiet, reset
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

CONTROL, STATUS, SNAPSHOT, INTERVAL_END, CLOCK_VALUE, POINT_ID = 0x20, 0x24, 0x28, 0x5C, 0x80, 0xA0
CONSTANTS = {0x00: 0x44454C54, 0x04: 0x0001_0005, 0x08: 0, 0x0C: 0x122A2108, 0x18: 0x1234_5678}
# Port, offset, words, bits.
COUNTERS = [
    ("interval", 0x2C, 1, 32),
    ("packets", 0x30, 2, 48),
    ("bytes", 0x38, 2, 48),
    ("unmeasured", 0x40, 1, 32),
    ("bad", 0x44, 1, 32),
    ("refused_ends", 0x48, 1, 16),
    ("control_frames", 0x4C, 1, 32),
    ("unmatched", 0x50, 1, 32),
    ("delimiters", 0x54, 1, 32),
    ("delimiter_gaps", 0x58, 1, 32),
    ("timestamp", 0x60, 2, 64),
]
STATES = [
    "status_running",
    "status_ptp_locked",
    "status_drain_busy",
    "status_end_refused",
    "status_prefixes_pending",
    "status_key_pending",
    "status_mixing_pending",
]
OTHERS = ["clock_status_locked", "clock_status_slewing"]
# Without them the registers of prefix lengths, keys and mixings refuse all writes.
GUARDS = [
    "prefixes_next_allowed",
    "prefixes_from_allowed",
    "prefixes_schedule_allowed",
    "boot_epoch_allowed",
    "key_low_allowed",
    "key_high_allowed",
    "key_id_allowed",
    "key_from_allowed",
    "key_schedule_allowed",
    "mixing_matrix_allowed",
    "mixing_offset_allowed",
    "mixing_id_allowed",
    "mixing_from_allowed",
    "mixing_schedule_allowed",
]


async def start(dut):
    await reset(dut, [name for name, *_ in COUNTERS] + STATES + OTHERS + GUARDS)
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
    quiet(master.write_if, master.read_if)
    channels = [
        master.write_if.aw_channel,
        master.write_if.w_channel,
        master.write_if.b_channel,
        master.read_if.ar_channel,
        master.read_if.r_channel,
    ]
    for channel in channels:
        channel.set_pause_generator(pauses())
    return master


async def refused(master, address, data):
    """Whether a write is answered with SLVERR."""
    answer = await master.write(address, data)
    return answer.resp == AxiResp.SLVERR


async def pulses(dut, name, counted):
    """Counts the cycles in which a signal is high."""
    while True:
        await RisingEdge(dut.clk)
        counted[name] = counted.get(name, 0) + int(getattr(dut, name).value)


@cocotb.test()
async def constants_and_control(dut):
    master = await start(dut)
    for address, value in CONSTANTS.items():
        assert await master.read_dword(address) == value, hex(address)
    for value in [0x2F11, 0x0001, 0x0010, 0x0000, 0x1E11]:
        await master.write_dword(CONTROL, value)
        assert await master.read_dword(CONTROL) == value
    assert (int(dut.control_role.value), int(dut.control_interval_log2.value)) == (1, 30)
    await master.write_qword(CLOCK_VALUE, 0x0123_4567_89AB_CDEF)
    assert int(dut.clock_value.value) == 0x0123_4567_89AB_CDEF
    await master.write_dword(POINT_ID, 0xFEDC_BA98)
    assert int(dut.point_id.value) == await master.read_dword(POINT_ID) == 0xFEDC_BA98
    for bit, name in enumerate(STATES):
        getattr(dut, name).value = 1
        assert await master.read_dword(STATUS) == (2 << bit) - 1


@cocotb.test()
async def illegal_accesses(dut):
    master = await start(dut)
    await master.write_dword(CONTROL, 0x1E11)
    for value in [0x3011, 0x0020, 0x0002, 1 << 31]:
        assert await refused(master, CONTROL, value.to_bytes(4, "little")), hex(value)
    for address in [0x00, 0x0C, STATUS, 0x30, 0x1C, 0x8C, 0x90, 0x9C, 0xA4, 0xA8, 0xC0, 0xD0, 0xE4, 0xFFC]:
        assert await refused(master, address, bytes(4)), hex(address)
    for length in [1, 2, 3]:
        assert await refused(master, CONTROL, bytes(length))
    for address in [0x1C, 0x8C, 0xC8, 0x100, 0xFFC]:
        assert (await master.read(address, 4)).resp == AxiResp.SLVERR, hex(address)
    assert await master.read_dword(CONTROL) == 0x1E11


@cocotb.test()
async def a_mixing(dut):
    """It is written, shows at the outputs, and reads as zero but for its identifier; a word whose guard is low keeps its value."""
    master = await start(dut)
    for name in GUARDS:
        getattr(dut, name).value = 1
    await master.write_qword(0xD0, 0x7EDC_BA98_7654_3210)
    for address, value in [(0xD8, 0x1122_3344), (0xDC, 0x5566_7788), (0xE0, 9)]:
        await master.write_dword(address, value)
    assert await refused(master, 0xD4, (1 << 31).to_bytes(4, "little"))
    dut.mixing_offset_allowed.value = 0
    assert await refused(master, 0xD8, bytes(4))
    ports = [dut.mixing_matrix, dut.mixing_offset, dut.mixing_id, dut.mixing_from]
    assert [int(port.value) for port in ports] == [0x7EDC_BA98_7654_3210, 0x1122_3344, 0x5566_7788, 9]
    assert [await master.read_dword(0xD0 + 4 * word) for word in range(6)] == [0, 0, 0, 0x5566_7788, 9, 0]
    counted = {}
    cocotb.start_soon(pulses(dut, "mixing_schedule", counted))
    await master.write_dword(0xE4, 1)
    await RisingEdge(dut.clk)
    assert counted == {"mixing_schedule": 1}


@cocotb.test()
async def strobes(dut):
    master = await start(dut)
    counted = {}
    for name in ["interval_end", "snapshot", "clock_command_slew"]:
        cocotb.start_soon(pulses(dut, name, counted))
    for value in [1, 0, 1, 1]:
        await master.write_dword(INTERVAL_END, value)
        assert await master.read_dword(INTERVAL_END) == 0
    await master.write_dword(0x88, 4)
    await RisingEdge(dut.clk)
    assert counted == {"interval_end": 3, "snapshot": 0, "clock_command_slew": 1}


@cocotb.test()
async def snapshots(dut):
    """All counters show the same number, which changes in every cycle: values read must be of the cycle of the snapshot."""
    master = await start(dut)
    cycle = 0
    taken = None

    async def count():
        nonlocal cycle, taken
        while True:
            cycle += 1
            for name, _, _, bits in COUNTERS:
                getattr(dut, name).value = (cycle * 0x0001_0001_0001_0001) & (1 << bits) - 1
            await RisingEdge(dut.clk)
            if int(dut.snapshot.value):
                taken = cycle

    cocotb.start_soon(count())
    for _ in range(10):
        await master.write_dword(SNAPSHOT, 1)
        order = random.sample(COUNTERS, len(COUNTERS))
        for name, address, words, bits in order + order:
            found = int.from_bytes((await master.read(address, 4 * words)).data, "little")
            assert found == (taken * 0x0001_0001_0001_0001) & (1 << bits) - 1, name
