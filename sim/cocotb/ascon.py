"""The tag of Ascon-AEAD128 (NIST SP 800-232) for associated data without a plaintext, written from the standard."""

MASK = (1 << 64) - 1
IV = 0x0000_1000_808C_0001
# By how much each word of the state is rotated in the linear layer, to the right.
ROTATIONS = [(19, 28), (61, 39), (1, 6), (10, 17), (7, 41)]
# The last of these are the constants of a permutation with fewer rounds.
CONSTANTS = [0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87, 0x78, 0x69, 0x5A, 0x4B]


def rotated(word, by):
    return (word >> by | word << (64 - by)) & MASK


def permute(state, rounds):
    for constant in CONSTANTS[-rounds:]:
        x0, x1, x2, x3, x4 = state
        x2 ^= constant
        x0, x2, x4 = x0 ^ x4, x2 ^ x1, x4 ^ x3
        x = [x0, x1, x2, x3, x4]
        x = [x[i] ^ (~x[(i + 1) % 5] & x[(i + 2) % 5]) for i in range(5)]
        x0, x1, x2, x3, x4 = x
        x = [x0 ^ x4, x1 ^ x0, ~x2 & MASK, x3 ^ x2, x4]
        state = [word ^ rotated(word, a) ^ rotated(word, b) for word, (a, b) in zip(x, ROTATIONS, strict=True)]
    return state


def words(data):
    """Little-endian words of 64 bits."""
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]


def tag(key, nonce, data):
    """16 bytes."""
    k0, k1 = words(key)
    state = permute([IV, k0, k1, *words(nonce)], 12)
    state[3] ^= k0
    state[4] ^= k1
    padded = data + b"\x01" + bytes(-(len(data) + 1) % 16)
    padded = words(padded)
    for low, high in zip(padded[::2], padded[1::2], strict=True):
        state[0] ^= low
        state[1] ^= high
        state = permute(state, 8)
    # The end of the associated data, and a plaintext that is padding alone.
    state[4] ^= 1 << 63
    state[0] ^= 1
    state[2] ^= k0
    state[3] ^= k1
    state = permute(state, 12)
    return b"".join((word ^ key).to_bytes(8, "little") for word, key in zip(state[3:], [k0, k1], strict=True))


def tag_of_frame(key, frame):
    """The tag that a control frame of layout version 2 or a delimiter should have, by docs/authentication.md, and where it is."""
    is_delimiter = frame[14:16] == b"\x01\x02"
    epoch = frame[32:36] if is_delimiter else frame[120:124]
    fragment = bytes(2) if is_delimiter else frame[32:34]
    at = len(frame) - 24
    return at, tag(key, frame[16:24] + epoch + frame[14:16] + fragment, frame[16:at])
