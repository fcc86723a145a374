-- SPDX-License-Identifier: MIT OR Apache-2.0
--
-- Wireshark dissector for Deltaline's control frames (layout versions 1 and 2).
--
-- The layouts are defined in host/model/src/wire/v1.rs and v2.rs; offsets below are bytes from the destination MAC
-- address, eight a word. Works with Lua 5.2 to 5.4: 64-bit numbers are UInt64 objects, since Lua 5.2 has no 64-bit integers.

local ETHERTYPE = 0x88b5
local SOURCE = "02:44:45:4c:54:41"

-- Wireshark hands a dissector what follows the EtherType.
local DISSECTED_FROM = 14
local TAG_BYTES = 16
local CHECK_BYTES = 8
local BLOCK_CELLS = 8
local MAX_CELL_BYTES = 1152
local CELL_BITS = 72
local DIGEST_CELL_BITS = 104
local DIGESTS_FLAG = 32
local MAX_BANKS = 8
local MAX_PREFIX = 16
local MAX_ROWS = 32768
local NO_BANK = 255
local LDA = 1
-- Of version 1.
local HEADER_BYTES = 96
-- Of version 2, in front of the kind's own words.
local FIXED_WORDS = 16

local ROLES = { [0] = "sender", [1] = "receiver" }
-- Kind 6 is a message, which is no control frame.
local KINDS = {
  [LDA] = "Lossy Difference Aggregator", [2] = "FineComb", [3] = "Identity table", [4] = "RDA", [5] = "sRDA",
  [7] = "Slices", [8] = "LDA and slices", [9] = "LDA and identity table", [10] = "LDS", [11] = "COLATE",
}
local TIME_BASES = { [0] = "none", [1] = "TAI", [2] = "Unix" }

local deltaline = Proto("deltaline", "Deltaline control frame")

local fields = {
  version = ProtoField.uint8("deltaline.version", "Version", base.DEC, nil, nil, "Version of the layout"),
  role = ProtoField.uint8("deltaline.role", "Role", base.DEC, ROLES, nil, "Which end of the segment"),
  segment = ProtoField.uint32("deltaline.segment", "Segment", base.DEC, nil, nil, "Measurement segment"),
  interval = ProtoField.uint32("deltaline.interval", "Interval", base.DEC, nil, nil, "Number, modulo 2^32"),
  configuration = ProtoField.uint64("deltaline.configuration", "Configuration", base.HEX, nil, nil,
    "Its identifier, equal at both ends of a segment"),
  fragment = ProtoField.uint16("deltaline.fragment", "Fragment", base.DEC, nil, nil,
    "Index of this frame in the interval, from 0"),
  fragments = ProtoField.uint16("deltaline.fragments", "Fragments", base.DEC, nil, nil, "Frames of the interval"),
  bank = ProtoField.uint8("deltaline.bank", "Bank", base.DEC, nil, nil, "The bank of this frame's cells"),
  banks = ProtoField.uint8("deltaline.banks", "Banks", base.DEC, nil, nil, "Banks of the measurement"),
  rows = ProtoField.uint16("deltaline.rows", "Rows", base.DEC, nil, nil, "Rows of each bank"),
  first_row = ProtoField.uint16("deltaline.first_row", "First row", base.DEC, nil, nil,
    "Row of this frame's first cell"),
  kind = ProtoField.uint8("deltaline.kind", "Kind", base.DEC, KINDS, nil, "The synopsis that the tables are of"),
  table = ProtoField.uint8("deltaline.table", "Table", base.DEC, nil, nil, "The table of this frame's cells"),
  tables = ProtoField.uint8("deltaline.tables", "Tables", base.DEC, nil, nil, "Tables of the synopsis"),
  header_words = ProtoField.uint8("deltaline.header_words", "Header words", base.DEC, nil, nil,
    "Words of 64 bits in front of the first cell"),
  first_cell = ProtoField.uint32("deltaline.first_cell", "First cell", base.DEC, nil, nil,
    "Index in its table of this frame's first cell"),
  cell_bits = ProtoField.uint16("deltaline.cell_bits", "Cell bits", base.DEC, nil, nil,
    "Width of a cell, and bytes of a block of eight"),
  point = ProtoField.uint32("deltaline.point", "Point", base.DEC, nil, nil, "Identifier of the measurement point"),
  time_base = ProtoField.uint8("deltaline.time_base", "Time base", base.DEC, TIME_BASES, nil,
    "What the seconds count from"),
  seconds = ProtoField.uint64("deltaline.seconds", "Seconds", base.DEC, nil, nil,
    "The interval's end; 0 without a time base"),
  time_sum = ProtoField.uint64("deltaline.time_sum", "Time sum", base.DEC, nil, nil,
    "Timestamps of all measured packets, unsampled, in ns, modulo 2^64"),
  digest_sum = ProtoField.uint32("deltaline.digest_sum", "Digest sum", base.HEX, nil, nil,
    "Digests of all measured packets, unsampled, each half modulo 2^16"),
  mixing = ProtoField.uint32("deltaline.mixing", "Mixing", base.HEX, nil, nil,
    "Identifier of what decides bank and row; 0 for the design's own"),
  boot_epoch = ProtoField.uint32("deltaline.boot_epoch", "Boot epoch", base.DEC, nil, nil, "Starts of the point"),
  key = ProtoField.uint16("deltaline.key", "Key", base.DEC, nil, nil, "Of the authentication tag; 0 without one"),
  ignored_delimiters = ProtoField.uint16("deltaline.ignored_delimiters", "Ignored delimiters", base.DEC, nil, nil,
    "Delimiters of this measurement that were not next"),
  own = ProtoField.bytes("deltaline.own", "Own words", base.NONE, "Of a kind whose tables are not decoded"),
  blocks = ProtoField.bytes("deltaline.blocks", "Cells", base.NONE, "Of a kind whose tables are not decoded"),
  cells = ProtoField.uint16("deltaline.cells", "Cells", base.DEC, nil, nil, "Cells in this frame"),
  flags = ProtoField.uint16("deltaline.flags", "Flags", base.HEX),
  saturated = ProtoField.bool("deltaline.flags.saturated", "Saturated", 16, nil, 0x0001,
    "A packet count or a total overflowed"),
  overrun = ProtoField.bool("deltaline.flags.overrun", "Overrun", 16, nil, 0x0002,
    "An interval end was refused: this interval is longer than asked for"),
  clock = ProtoField.bool("deltaline.flags.clock", "Clock not locked", 16, nil, 0x0004,
    "The clock was not locked at some moment of the interval"),
  timed = ProtoField.bool("deltaline.flags.timed", "Timed", 16, nil, 0x0008,
    "The clock, a pin or a register, not a delimiter in the stream, started or ended the interval"),
  gap = ProtoField.bool("deltaline.flags.gap", "Gap", 16, nil, 0x0010,
    "A delimiter before the one that ended the interval is missing"),
  digests = ProtoField.bool("deltaline.flags.digests", "Digests", 16, nil, 0x0020, "Cells have digest sums"),
  has_digest_sum = ProtoField.bool("deltaline.flags.digest_sum", "Digest sum", 16, nil, 0x0040,
    "The frame has the sum of all packets' digests"),
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
  cell_digest = ProtoField.uint32("deltaline.cell.digest", "Digest sum", base.HEX, nil, nil,
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
  kind = ProtoExpert.new("deltaline.kind.unknown", "Kind that this dissector does not know: only the totals are read",
    expert.group.UNDECODED, expert.severity.WARN),
  undecoded = ProtoExpert.new("deltaline.kind.undecoded", "Tables of this kind are not decoded: cells are shown as bytes",
    expert.group.UNDECODED, expert.severity.NOTE),
  check = ProtoExpert.new("deltaline.check.bad", "Check word wrong: the frame is corrupted",
    expert.group.CHECKSUM, expert.severity.ERROR),
  contradiction = ProtoExpert.new("deltaline.contradiction", "Field contradicts the others",
    expert.group.MALFORMED, expert.severity.ERROR),
}
deltaline.experts = experts

-- The plain fields of each version's header in the order of the layout: name, offset, length in bytes.
local HEADERS = {
  [1] = {
    { "version", 14, 1 }, { "role", 15, 1 }, { "segment", 16, 4 }, { "interval", 20, 4 }, { "configuration", 24, 8 },
    { "fragment", 32, 2 }, { "fragments", 34, 2 }, { "bank", 36, 1 }, { "banks", 37, 1 }, { "rows", 38, 2 },
    { "first_row", 40, 2 }, { "cells", 42, 2 }, { "flags", 44, 2 }, { "refused_ends", 46, 2 }, { "packets", 48, 8 },
    { "bytes", 56, 8 }, { "first_time", 64, 8 }, { "last_time", 72, 8 }, { "prefixes", 80, 8 }, { "unmeasured", 88, 4 },
    { "bad", 92, 4 },
  },
  [2] = {
    { "version", 14, 1 }, { "role", 15, 1 }, { "segment", 16, 4 }, { "interval", 20, 4 }, { "configuration", 24, 8 },
    { "fragment", 32, 2 }, { "fragments", 34, 2 }, { "kind", 36, 1 }, { "table", 37, 1 }, { "tables", 38, 1 },
    { "header_words", 39, 1 }, { "first_cell", 40, 4 }, { "cells", 44, 2 }, { "cell_bits", 46, 2 }, { "point", 48, 4 },
    { "flags", 52, 2 }, { "refused_ends", 54, 2 }, { "packets", 56, 8 }, { "bytes", 64, 8 }, { "first_time", 72, 8 },
    { "last_time", 80, 8 }, { "unmeasured", 88, 4 }, { "bad", 92, 4 }, { "time_base", 96, 1 }, { "seconds", 98, 6 },
    { "time_sum", 104, 8 }, { "digest_sum", 112, 4 }, { "mixing", 116, 4 }, { "boot_epoch", 120, 4 },
    { "key", 124, 2 }, { "ignored_delimiters", 126, 2 },
  },
}
-- Bytes of what every header has.
local FIXED_BYTES = { [1] = HEADER_BYTES, [2] = 8 * FIXED_WORDS }

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

-- Most cells of this width in a frame.
local function most_cells(cell_bits)
  local blocks = 1
  while 2 * blocks * math.max(cell_bits, 1) <= MAX_CELL_BYTES do
    blocks = 2 * blocks
  end
  return blocks * BLOCK_CELLS
end

-- Where the parts of a frame are: bytes in front of the cells, cells, bytes of a block, of the whole frame. If its
-- fields leave that open, nil and the field; if they were not captured, nil.
local function place_of(frame, version)
  if not frame(FIXED_BYTES[version] - 8, 8) then
    return nil
  end
  local front, cells, block
  if version == 1 then
    front, cells = HEADER_BYTES, frame(42, 2):uint()
    block = has_digests(frame(44, 2):uint()) and DIGEST_CELL_BITS or CELL_BITS
    if cells > most_cells(CELL_BITS) then
      return nil, "cells"
    end
  else
    front, cells, block = 8 * frame(39, 1):uint(), frame(44, 2):uint(), frame(46, 2):uint()
    if front < 8 * FIXED_WORDS then
      return nil, "header_words"
    end
  end
  if cells % BLOCK_CELLS ~= 0 then
    return nil, "cells"
  end
  if block % 8 ~= 0 then
    return nil, "cell_bits"
  end
  local length = front + math.floor(cells / BLOCK_CELLS) * block + TAG_BYTES + CHECK_BYTES
  return { front = front, cells = cells, block = block, length = length }
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
local function verify(frame, place)
  local found = place and frame(place.length - CHECK_BYTES, CHECK_BYTES)
  if not found then
    return false
  end
  local expected = expected_check(frame, place.length)
  return found:uint64() == expected, found, expected
end

-- Whether these are prefix lengths of so many banks.
local function are_prefixes(lengths, banks)
  for bank = 0, MAX_BANKS - 1 do
    local length = lengths[bank]
    if bank < banks then
      if length > MAX_PREFIX or (bank > 0 and length <= lengths[bank - 1]) then
        return false
      end
    elseif length ~= NO_BANK then
      return false
    end
  end
  return banks > 0
end

local function are_rows(rows)
  local power = BLOCK_CELLS
  while power < rows do
    power = power * 2
  end
  return rows == power and rows <= MAX_ROWS
end

-- The name of the first field of version 1 that contradicts the others or is out of range, nil if all is well.
local function contradiction_1(header, lengths)
  if not ROLES[header.role] then
    return "role"
  end
  if header.banks > MAX_BANKS then
    return "banks"
  end
  if not are_prefixes(lengths, header.banks) then
    return "prefixes"
  end
  if not are_rows(header.rows) then
    return "rows"
  end
  local cells = math.min(header.rows, most_cells(has_digests(header.flags) and DIGEST_CELL_BITS or CELL_BITS))
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

-- Likewise of version 2, of the kind whose tables are decoded.
local function contradiction_2(header, lengths)
  if not ROLES[header.role] then
    return "role"
  end
  if header.kind ~= LDA then
    return nil
  end
  if header.header_words ~= FIXED_WORDS + 1 then
    return "header_words"
  end
  if header.tables > MAX_BANKS then
    return "tables"
  end
  if header.tables == 0 then
    return "prefixes"
  end
  local used = {}
  for bank = 0, MAX_BANKS - 1 do
    used[bank] = bank < header.tables and lengths[bank] or NO_BANK
  end
  if not are_prefixes(used, header.tables) then
    return "prefixes"
  end
  local frames_per_table = math.floor(header.fragments / header.tables)
  local table_cells = frames_per_table * header.cells
  if not are_rows(table_cells) then
    return "table_cells"
  end
  if header.cell_bits ~= (has_digests(header.flags) and DIGEST_CELL_BITS or CELL_BITS) then
    return "cell_bits"
  end
  if not are_prefixes(lengths, header.tables) then
    return "prefixes"
  end
  if header.cells ~= math.min(table_cells, most_cells(header.cell_bits)) then
    return "cells"
  end
  if header.fragments ~= header.tables * frames_per_table then
    return "fragments"
  end
  if header.fragment >= header.fragments then
    return "fragment"
  end
  if header.table ~= math.floor(header.fragment / frames_per_table) then
    return "table"
  end
  if header.first_cell ~= header.fragment % frames_per_table * header.cells then
    return "first_cell"
  end
end

local CONTRADICTIONS = { [1] = contradiction_1, [2] = contradiction_2 }

local function add_flags(item, range, version)
  for _, name in ipairs({ "saturated", "overrun", "clock", "timed", "gap", "digests" }) do
    item:add(fields[name], range)
  end
  if version > 1 then
    item:add(fields.has_digest_sum, range)
  end
end

local function add_time(item, range, which)
  local nanoseconds, fraction = range(0, 6):uint64(), range(6, 2):uint()
  item:add(fields[which .. "_nanoseconds"], range(0, 6), nanoseconds)
  item:add(fields[which .. "_fraction"], range(6, 2), fraction)
  item:append_text(string.format(" (%s ns + %d/65536 ns)", tostring(nanoseconds), fraction))
end

-- Adds the prefix lengths' bytes; returns their item and the lengths by bank.
local function add_prefixes(item, range, banks)
  local lengths = {}
  for bank = 0, MAX_BANKS - 1 do
    lengths[bank] = range(bank, 1):uint()
    if bank < banks then
      item:add(fields.prefix, range(bank, 1)):append_text(string.format(" (bank %d)", bank))
    end
  end
  return lengths
end

-- Adds the header; returns its numbers by name, its items by name, and its prefix lengths by bank. What was not
-- captured is missing in all three.
local function add_header(tree, frame, version)
  local header, items, lengths = {}, {}, {}
  for _, entry in ipairs(HEADERS[version]) do
    local name, offset, length = entry[1], entry[2], entry[3]
    local range = frame(offset, length)
    if not range then
      return header, items, lengths
    end
    local item = tree:add(fields[name], range)
    items[name] = item
    if name == "flags" then
      add_flags(item, range, version)
      header.flags = range:uint()
    elseif name == "first_time" then
      add_time(item, range, "first")
    elseif name == "last_time" then
      add_time(item, range, "last")
    elseif name == "prefixes" then
      lengths = add_prefixes(item, range, header.banks)
    elseif length <= 4 then
      header[name] = range:uint()
    end
  end
  header.is_whole = true
  if version == 2 then
    local from, length = 8 * FIXED_WORDS, 8 * (header.header_words - FIXED_WORDS)
    if header.kind == LDA and length == 8 then
      local range = frame(from, length)
      if range then
        items.prefixes = tree:add(fields.prefixes, range)
        lengths = add_prefixes(items.prefixes, range, header.tables)
      end
    elseif length > 0 and frame(from, length) then
      tree:add(fields.own, frame(from, length))
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
    local high = block(block:len() - BLOCK_CELLS + index, 1)
    local row, count = first_row + index, word(0, 4):uint()
    local sum = UInt64(word(4, 4):uint(), high:uint())
    local cell = item:add(fields.cell, word)
    cell:set_text(string.format("Row %d: %.0f packets, timestamp sum %s ns", row, count, tostring(sum)))
    cell:add(fields.row, word, row):set_generated()
    cell:add(fields.count, word(0, 4))
    cell:add(fields.sum, word(4, 4), sum)
    if digests then
      cell:add(fields.cell_digest, block(24 * pair + 16 + 4 * (index % 2), 4))
    end
  end
end

-- Adds the blocks that were captured whole; those of a kind whose tables are not decoded as they are.
local function add_blocks(tree, frame, header, place)
  local digests, first = has_digests(header.flags), header.first_row or header.first_cell
  local is_decoded = not header.kind or header.kind == LDA
  if not is_decoded then
    local length = place.length - place.front - TAG_BYTES - CHECK_BYTES
    if length > 0 and frame(place.front, length) then
      tree:add(fields.blocks, frame(place.front, length))
    end
    return
  end
  if place.block ~= (digests and DIGEST_CELL_BITS or CELL_BITS) then
    return
  end
  for index = 0, math.floor(place.cells / BLOCK_CELLS) - 1 do
    local block = frame(place.front + index * place.block, place.block)
    if not block then
      return
    end
    add_block(tree, block, first + index * BLOCK_CELLS, digests)
  end
end

local function info(header)
  local first = header.first_row or header.first_cell
  if not header.cells or not first then
    return "truncated"
  end
  local place, cell = "bank", "row"
  if header.table then
    place, cell = "table", "cell"
  end
  local cells = header.cells > 0 and string.format("%ss %.0f..%.0f", cell, first, first + header.cells - 1)
    or string.format("no %ss", cell)
  local role = ROLES[header.role] or string.format("role %d", header.role)
  local fragment = string.format("fragment %d of %d", header.fragment, header.fragments)
  local at = header.bank or header.table
  return string.format("%s interval %.0f %s %d %s (%s)", role, header.interval, place, at, cells, fragment)
end

-- Adds all there is of a frame of this version; returns what is wrong with it, for the info column.
local function add_frame(tree, tvb, frame, version, header, items, lengths)
  local problems = {}
  local function complain(item, kind, text, short)
    item:add_proto_expert_info(kind, text)
    table.insert(problems, short)
  end
  local function truncated()
    complain(tree, experts.truncated, "Truncated: capture with a larger snap length", "truncated")
    return problems
  end

  if not header.is_whole then
    return truncated()
  end
  local place, open = place_of(frame, version)
  if not place and not open then
    return truncated()
  end
  if not place then
    complain(items[open], experts.contradiction, "Leaves open where cells are: the rest is not decoded",
      "contradictory " .. open)
    return problems
  end
  add_blocks(tree, frame, header, place)
  local tag = frame(place.length - CHECK_BYTES - TAG_BYTES, TAG_BYTES)
  if tag then
    tree:add(fields.tag, tag)
  end
  local right, found, expected = verify(frame, place)
  if not found then
    return truncated()
  end
  local item = tree:add(fields.check, found)
  item:add(fields.check_ok, found, right):set_generated()
  if not right then
    item:add(fields.check_expected, found, expected):set_generated()
    complain(item, experts.check, "Check word wrong: the frame is corrupted", "check word wrong")
  end
  local name = CONTRADICTIONS[version](header, lengths)
  if name then
    complain(items[name] or items.cells, experts.contradiction, "Field contradicts the others", "contradictory " .. name)
  elseif header.kind and not KINDS[header.kind] then
    complain(items.kind, experts.kind, "Kind that this dissector does not know: only the totals are read", "unknown kind")
  elseif header.kind and header.kind ~= LDA then
    complain(items.kind, experts.undecoded, "Tables of this kind are not decoded: cells are shown as bytes",
      "tables not decoded")
  end
  local padding = tvb:len() - (place.length - DISSECTED_FROM)
  if padding > 0 then
    tree:add(fields.padding, frame(place.length, padding))
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
  local version = start(0, 1):uint()
  return HEADERS[version] and verify(frame, (place_of(frame, version)))
end

function deltaline.dissector(tvb, pinfo, root)
  local frame = reader(tvb)
  if not is_deltaline(frame, pinfo) then
    return 0
  end
  pinfo.cols.protocol = "Deltaline"
  local tree = root:add(deltaline, tvb())
  local version = frame(14, 1):uint()
  if not HEADERS[version] then
    tree:add(fields.version, frame(14, 1)):add_proto_expert_info(experts.version)
    pinfo.cols.info = string.format("layout version %d, which this dissector does not know", version)
    return tvb:len()
  end
  local header, items, lengths = add_header(tree, frame, version)
  local problems = add_frame(tree, tvb, frame, version, header, items, lengths)
  local summary = info(header)
  tree:append_text(", " .. summary)
  for _, problem in ipairs(problems) do
    summary = summary .. " [" .. problem .. "]"
  end
  pinfo.cols.info = summary
  return tvb:len()
end

DissectorTable.get("ethertype"):add(ETHERTYPE, deltaline)
