-- SPDX-License-Identifier: MIT OR Apache-2.0
--
-- Wireshark dissector for Deltaline's control frames (layout version 1).
--
-- The layout is defined in host/model/src/wire/frame.rs; offsets below are those of its table, counted from the destination
-- MAC address. Works with Lua 5.2 to 5.4: 64-bit numbers are UInt64 objects, since Lua 5.2 has no 64-bit integers.

local ETHERTYPE = 0x88b5
local VERSION = 1
local SOURCE = "02:44:45:4c:54:41"

-- Wireshark hands a dissector what follows the EtherType.
local DISSECTED_FROM = 14
local HEADER_BYTES = 96
local TAG_BYTES = 16
local CHECK_BYTES = 8
local BLOCK_CELLS = 8
local BLOCK_BYTES = 72
local DIGEST_BLOCK_BYTES = 104
local MAX_CELLS = 128
local MAX_DIGEST_CELLS = 64
local DIGESTS_FLAG = 32
local MAX_BANKS = 8
local MAX_PREFIX = 16
local NO_BANK = 255

local ROLES = { [0] = "sender", [1] = "receiver" }

local deltaline = Proto("deltaline", "Deltaline control frame")

local fields = {
  version = ProtoField.uint8("deltaline.version", "Version", base.DEC, nil, nil, "Version of the layout"),
  role = ProtoField.uint8("deltaline.role", "Role", base.DEC, ROLES, nil, "Which end of the segment"),
  segment = ProtoField.uint32("deltaline.segment", "Segment", base.DEC, nil, nil, "Measurement segment"),
  interval = ProtoField.uint32("deltaline.interval", "Interval", base.DEC, nil, nil, "Number, modulo 2^32"),
  digest = ProtoField.uint64("deltaline.digest", "Configuration digest", base.HEX, nil, nil,
    "Equal at both ends of a segment"),
  fragment = ProtoField.uint16("deltaline.fragment", "Fragment", base.DEC, nil, nil,
    "Index of this frame in the interval, from 0"),
  fragments = ProtoField.uint16("deltaline.fragments", "Fragments", base.DEC, nil, nil, "Frames of the interval"),
  bank = ProtoField.uint8("deltaline.bank", "Bank", base.DEC, nil, nil, "The bank of this frame's cells"),
  banks = ProtoField.uint8("deltaline.banks", "Banks", base.DEC, nil, nil, "Banks of the measurement"),
  rows = ProtoField.uint16("deltaline.rows", "Rows", base.DEC, nil, nil, "Rows of each bank"),
  first_row = ProtoField.uint16("deltaline.first_row", "First row", base.DEC, nil, nil,
    "Row of this frame's first cell"),
  cells = ProtoField.uint16("deltaline.cells", "Cells", base.DEC, nil, nil, "Cells in this frame"),
  flags = ProtoField.uint16("deltaline.flags", "Flags", base.HEX),
  saturated = ProtoField.bool("deltaline.flags.saturated", "Saturated", 16, nil, 0x0001,
    "A packet count or a total overflowed"),
  overrun = ProtoField.bool("deltaline.flags.overrun", "Overrun", 16, nil, 0x0002,
    "An interval end was refused: this interval is longer than asked for"),
  clock = ProtoField.bool("deltaline.flags.clock", "Clock not locked", 16, nil, 0x0004,
    "The clock was not locked at some moment of the interval"),
  timed = ProtoField.bool("deltaline.flags.timed", "Timed", 16, nil, 0x0008,
    "The clock, not a delimiter in the stream, started or ended the interval"),
  gap = ProtoField.bool("deltaline.flags.gap", "Gap", 16, nil, 0x0010,
    "A delimiter before the one that ended the interval is missing"),
  digests = ProtoField.bool("deltaline.flags.digests", "Digests", 16, nil, 0x0020, "Cells have digest sums"),
  refused_ends = ProtoField.uint16("deltaline.refused_ends", "Refused interval ends", base.DEC, nil, nil,
    "Interval ends that came during a drain, saturating"),
  packets = ProtoField.uint64("deltaline.packets", "Packets", base.DEC, nil, nil,
    "Measured packets, unsampled, modulo 2^48"),
  bytes = ProtoField.uint64("deltaline.bytes", "Bytes", base.DEC, nil, nil, "Their IP octets, modulo 2^48"),
  first_time = ProtoField.uint64("deltaline.first_time", "First time", base.HEX, nil, nil,
    "Of the first measured packet, PTP relative-64; 0 if there was none"),
  first_nanoseconds = ProtoField.uint64("deltaline.first_time.nanoseconds", "Nanoseconds", base.DEC, nil, nil,
    "Modulo 2^48"),
  first_fraction = ProtoField.uint16("deltaline.first_time.fraction", "Fraction", base.DEC, nil, nil,
    "In units of 2^-16 ns"),
  last_time = ProtoField.uint64("deltaline.last_time", "Last time", base.HEX, nil, nil,
    "Of the last measured packet, PTP relative-64; 0 if there was none"),
  last_nanoseconds = ProtoField.uint64("deltaline.last_time.nanoseconds", "Nanoseconds", base.DEC, nil, nil,
    "Modulo 2^48"),
  last_fraction = ProtoField.uint16("deltaline.last_time.fraction", "Fraction", base.DEC, nil, nil,
    "In units of 2^-16 ns"),
  prefixes = ProtoField.bytes("deltaline.prefixes", "Prefix lengths", base.SPACE,
    "One byte a bank, 255 where there is no bank"),
  prefix = ProtoField.uint8("deltaline.prefix", "Prefix length", base.DEC, nil, nil,
    "The bank takes packets whose hash has this many leading zeros"),
  unmeasured = ProtoField.uint32("deltaline.unmeasured", "Unmeasured", base.DEC, nil, nil,
    "Frames that are not measured, saturating"),
  bad = ProtoField.uint32("deltaline.bad", "Bad", base.DEC, nil, nil, "Frames that the MAC marked bad, saturating"),
  block = ProtoField.none("deltaline.block", "Block", "Eight cells"),
  cell = ProtoField.none("deltaline.cell", "Cell", "One row of the bank"),
  row = ProtoField.uint16("deltaline.cell.row", "Row", base.DEC),
  count = ProtoField.uint32("deltaline.cell.count", "Packets", base.DEC, nil, nil, "Modulo 2^32"),
  sum = ProtoField.uint64("deltaline.cell.sum", "Timestamp sum", base.DEC, nil, nil, "In ns, modulo 2^40"),
  digest_sum = ProtoField.uint32("deltaline.cell.digest", "Digest sum", base.HEX, nil, nil,
    "Of the packets' digests, each half modulo 2^16"),
  tag = ProtoField.bytes("deltaline.tag", "Authentication tag", base.NONE, "Zero when there is none"),
  check = ProtoField.uint64("deltaline.check", "Check word", base.HEX, nil, nil,
    "Guards assembly, storage and truncation"),
  check_ok = ProtoField.bool("deltaline.check.ok", "Check word right"),
  check_expected = ProtoField.uint64("deltaline.check.expected", "Check word of the contents", base.HEX),
  padding = ProtoField.bytes("deltaline.padding", "Padding", base.NONE, "What follows the frame's end, FCS included"),
}
deltaline.fields = fields

local experts = {
  truncated = ProtoExpert.new("deltaline.truncated", "Truncated: capture with a larger snap length",
    expert.group.MALFORMED, expert.severity.ERROR),
  version = ProtoExpert.new("deltaline.version.unknown", "Layout version that this dissector does not know",
    expert.group.UNDECODED, expert.severity.WARN),
  check = ProtoExpert.new("deltaline.check.bad", "Check word wrong: the frame is corrupted",
    expert.group.CHECKSUM, expert.severity.ERROR),
  contradiction = ProtoExpert.new("deltaline.contradiction", "Field contradicts the others",
    expert.group.MALFORMED, expert.severity.ERROR),
}
deltaline.experts = experts

-- The header's plain fields in the order of the layout: name, offset, length in bytes.
local HEADER = {
  { "version", 14, 1 }, { "role", 15, 1 }, { "segment", 16, 4 }, { "interval", 20, 4 }, { "digest", 24, 8 },
  { "fragment", 32, 2 }, { "fragments", 34, 2 }, { "bank", 36, 1 }, { "banks", 37, 1 }, { "rows", 38, 2 },
  { "first_row", 40, 2 }, { "cells", 42, 2 }, { "flags", 44, 2 }, { "refused_ends", 46, 2 }, { "packets", 48, 8 },
  { "bytes", 56, 8 }, { "first_time", 64, 8 }, { "last_time", 72, 8 }, { "prefixes", 80, 8 }, { "unmeasured", 88, 4 },
  { "bad", 92, 4 },
}

-- A frame is read through `frame(offset, length)`: the bytes at this offset of the layout, nil when they were not
-- captured. What is behind the captured bytes must not be touched: that would be a Lua error.
local function reader(tvb)
  return function(offset, length)
    local from = offset - DISSECTED_FROM
    if from + length <= tvb:len() then
      return tvb(from, length)
    end
  end
end

-- Whether the cells of a frame with these flags have digest sums.
local function has_digests(flags)
  return math.floor(flags / DIGESTS_FLAG) % 2 == 1
end

local function block_bytes(digests)
  return digests and DIGEST_BLOCK_BYTES or BLOCK_BYTES
end

-- Length of a frame with this many cells, in bytes.
local function frame_bytes(cells, digests)
  return HEADER_BYTES + math.floor(cells / BLOCK_CELLS) * block_bytes(digests) + TAG_BYTES + CHECK_BYTES
end

local function is_cell_number(cells)
  return cells % BLOCK_CELLS == 0 and cells <= MAX_CELLS
end

-- The check word that the contents of a whole frame of `length` bytes give.
local function expected_check(frame, length)
  local check = UInt64(ETHERTYPE * 65536 + frame(14, 2):uint(), 0)
  for offset = 16, length - CHECK_BYTES - 8, 8 do
    check = check:rol(1):bxor(frame(offset, 8):uint64())
  end
  return check
end

-- Whether the check word is there and right; where it is, and what it should be.
local function verify(frame)
  local cells, flags = frame(42, 2), frame(44, 2)
  if not flags or not is_cell_number(cells:uint()) then
    return false
  end
  local length = frame_bytes(cells:uint(), has_digests(flags:uint()))
  local found = frame(length - CHECK_BYTES, CHECK_BYTES)
  if not found then
    return false
  end
  local expected = expected_check(frame, length)
  return found:uint64() == expected, found, expected
end

-- The name of the first header field that contradicts the others or is out of range, nil if all is well.
local function contradiction(header, lengths)
  if not ROLES[header.role] then
    return "role"
  end
  if header.banks > MAX_BANKS then
    return "banks"
  end
  for bank = 0, MAX_BANKS - 1 do
    local length = lengths[bank]
    local good
    if bank < header.banks then
      good = length <= MAX_PREFIX and (bank == 0 or length > lengths[bank - 1])
    else
      good = length == NO_BANK
    end
    if not good or header.banks == 0 then
      return "prefixes"
    end
  end
  local power = BLOCK_CELLS
  while power < header.rows do
    power = power * 2
  end
  if header.rows ~= power then
    return "rows"
  end
  local cells = math.min(header.rows, has_digests(header.flags) and MAX_DIGEST_CELLS or MAX_CELLS)
  local frames_per_bank = math.floor(header.rows / cells)
  if header.cells ~= cells then
    return "cells"
  end
  if header.fragments ~= header.banks * frames_per_bank then
    return "fragments"
  end
  if header.fragment >= header.fragments then
    return "fragment"
  end
  if header.bank ~= math.floor(header.fragment / frames_per_bank) then
    return "bank"
  end
  if header.first_row ~= header.fragment % frames_per_bank * cells then
    return "first_row"
  end
end

local function add_flags(item, range)
  for _, name in ipairs({ "saturated", "overrun", "clock", "timed", "gap", "digests" }) do
    item:add(fields[name], range)
  end
end

local function add_time(item, range, which)
  local nanoseconds, fraction = range(0, 6):uint64(), range(6, 2):uint()
  item:add(fields[which .. "_nanoseconds"], range(0, 6), nanoseconds)
  item:add(fields[which .. "_fraction"], range(6, 2), fraction)
  item:append_text(string.format(" (%s ns + %d/65536 ns)", tostring(nanoseconds), fraction))
end

local function add_prefixes(item, range, banks)
  for bank = 0, math.min(banks, MAX_BANKS) - 1 do
    item:add(fields.prefix, range(bank, 1)):append_text(string.format(" (bank %d)", bank))
  end
end

-- Adds the header; returns its numbers by name, its items by name, and its prefix lengths by bank. What was not
-- captured is missing in all three.
local function add_header(tree, frame)
  local header, items, lengths = {}, {}, {}
  for _, entry in ipairs(HEADER) do
    local name, offset, length = entry[1], entry[2], entry[3]
    local range = frame(offset, length)
    if not range then
      break
    end
    local item = tree:add(fields[name], range)
    items[name] = item
    if name == "flags" then
      add_flags(item, range)
      header.flags = range:uint()
    elseif name == "first_time" then
      add_time(item, range, "first")
    elseif name == "last_time" then
      add_time(item, range, "last")
    elseif name == "prefixes" then
      add_prefixes(item, range, header.banks)
      for bank = 0, MAX_BANKS - 1 do
        lengths[bank] = range(bank, 1):uint()
      end
    elseif length <= 4 then
      header[name] = range:uint()
    end
  end
  return header, items, lengths
end

-- Adds a block: eight words of count and low sum, then eight bytes of high sum. With digests, a word with their two
-- digest sums stands behind every two cells.
local function add_block(tree, block, first_row, digests)
  local item = tree:add(fields.block, block)
  item:set_text(string.format("Rows %d..%d", first_row, first_row + BLOCK_CELLS - 1))
  for index = 0, BLOCK_CELLS - 1 do
    local pair = digests and math.floor(index / 2) or 0
    local word = block(8 * (index + pair), 8)
    local high = block(block_bytes(digests) - BLOCK_CELLS + index, 1)
    local row, count = first_row + index, word(0, 4):uint()
    local sum = UInt64(word(4, 4):uint(), high:uint())
    local cell = item:add(fields.cell, word)
    cell:set_text(string.format("Row %d: %.0f packets, timestamp sum %s ns", row, count, tostring(sum)))
    cell:add(fields.row, word, row):set_generated()
    cell:add(fields.count, word(0, 4))
    cell:add(fields.sum, word(4, 4), sum)
    if digests then
      cell:add(fields.digest_sum, block(24 * pair + 16 + 4 * (index % 2), 4))
    end
  end
end

-- Adds the blocks that were captured whole.
local function add_blocks(tree, frame, header)
  local digests = has_digests(header.flags)
  local length = block_bytes(digests)
  for index = 0, math.floor(header.cells / BLOCK_CELLS) - 1 do
    local block = frame(HEADER_BYTES + index * length, length)
    if not block then
      return
    end
    add_block(tree, block, header.first_row + index * BLOCK_CELLS, digests)
  end
end

local function info(header)
  if not header.cells then
    return "truncated"
  end
  local cells = header.cells > 0 and string.format("rows %d..%d", header.first_row, header.first_row + header.cells - 1)
    or "no rows"
  local role = ROLES[header.role] or string.format("role %d", header.role)
  local fragment = string.format("fragment %d of %d", header.fragment, header.fragments)
  return string.format("%s interval %.0f bank %d %s (%s)", role, header.interval, header.bank, cells, fragment)
end

-- Adds all there is of a frame of this version; returns what is wrong with it, for the info column.
local function add_frame(tree, tvb, frame, header, items, lengths)
  local problems = {}
  local function complain(item, kind, text, short)
    item:add_proto_expert_info(kind, text)
    table.insert(problems, short)
  end
  local function truncated()
    complain(tree, experts.truncated, "Truncated: capture with a larger snap length", "truncated")
    return problems
  end

  if not header.cells then
    return truncated()
  end
  if not is_cell_number(header.cells) then
    complain(items.cells, experts.contradiction, "Not a multiple of eight up to 128: the rest is not decoded",
      "contradictory cells")
    return problems
  end
  if not header.bad then
    return truncated()
  end
  add_blocks(tree, frame, header)
  local length = frame_bytes(header.cells, has_digests(header.flags))
  local tag = frame(length - CHECK_BYTES - TAG_BYTES, TAG_BYTES)
  if tag then
    tree:add(fields.tag, tag)
  end
  local right, found, expected = verify(frame)
  if not found then
    return truncated()
  end
  local item = tree:add(fields.check, found)
  item:add(fields.check_ok, found, right):set_generated()
  if not right then
    item:add(fields.check_expected, found, expected):set_generated()
    complain(item, experts.check, "Check word wrong: the frame is corrupted", "check word wrong")
  end
  local name = contradiction(header, lengths)
  if name then
    complain(items[name], experts.contradiction, "Field contradicts the others", "contradictory " .. name)
  end
  local padding = tvb:len() - (length - DISSECTED_FROM)
  if padding > 0 then
    tree:add(fields.padding, frame(length, padding))
  end
  return problems
end

-- Others may use the EtherType too. A frame is Deltaline's by its source address, or else by a right check word.
local function is_deltaline(frame, pinfo)
  local start = frame(14, 2)
  if not start then
    return false
  end
  if pinfo.dl_src == Address.ether(SOURCE) then
    return true
  end
  return start(0, 1):uint() == VERSION and verify(frame)
end

function deltaline.dissector(tvb, pinfo, root)
  local frame = reader(tvb)
  if not is_deltaline(frame, pinfo) then
    return 0
  end
  pinfo.cols.protocol = "Deltaline"
  local tree = root:add(deltaline, tvb())
  local version = frame(14, 1)
  if version:uint() ~= VERSION then
    tree:add(fields.version, version):add_proto_expert_info(experts.version)
    pinfo.cols.info = string.format("layout version %d, which this dissector does not know", version:uint())
    return tvb:len()
  end
  local header, items, lengths = add_header(tree, frame)
  local problems = add_frame(tree, tvb, frame, header, items, lengths)
  local summary = info(header)
  tree:append_text(", " .. summary)
  for _, problem in ipairs(problems) do
    summary = summary .. " [" .. problem .. "]"
  end
  pinfo.cols.info = summary
  return tvb:len()
end

DissectorTable.get("ethertype"):add(ETHERTYPE, deltaline)
