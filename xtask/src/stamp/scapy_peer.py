"""A STAMP peer made of scapy's packets (scapy.contrib.stamp), which are open ones.

reflect:          says its port, and answers until it is ended
send PORT COUNT:  asks one question after the other, and says as JSON how many answers came, and how many of them were not what was asked
"""

import json
import socket
import sys
import time

from scapy.contrib.stamp import ErrorEstimate
from scapy.contrib.stamp import STAMPSessionReflectorTestUnauthenticated as Answer
from scapy.contrib.stamp import STAMPSessionSenderTestUnauthenticated as Question
from scapy.utils import EDecimal

# Seconds from NTP's epoch to Unix's.
NTP = 2_208_988_800
SESSION = 0x1234
# Where the time of sending is in a question, and in an answer.
SENT = slice(4, 12)
SENT_ANSWERED = slice(28, 36)


def now():
    return EDecimal(time.time_ns()) / 10**9 + NTP


def reflect():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    number = 0
    while True:
        data, sender = server.recvfrom(2048)
        received = now()
        question = Question(data)
        answer = Answer(
            seq=number,
            ts=now(),
            err_estimate=ErrorEstimate(multiplier=1),
            ssid=question.ssid,
            ts_rx=received,
            seq_sender=question.seq,
            ts_sender=question.ts,
            err_estimate_sender=question.err_estimate,
        )
        # Many times that scapy reads and writes again differ by 2^-32 s or two, and who asked would not know them as its own.
        answer = bytearray(bytes(answer))
        answer[SENT_ANSWERED] = data[SENT]
        server.sendto(answer, sender)
        number += 1


def send(port, count):
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(1)
    client.connect(("127.0.0.1", port))
    received = misread = 0
    for number in range(count):
        question = Question(seq=number, ts=now(), err_estimate=ErrorEstimate(multiplier=1), ssid=SESSION)
        asked = bytes(question)
        client.send(asked)
        try:
            data = client.recv(2048)
        except TimeoutError:
            continue
        ended = now()
        answer = Answer(data)
        received += 1
        # Times as they are in packets are rounded to 2^-32 s.
        sent = Question(asked).ts
        right = (
            len(data) == len(asked)
            and answer.seq_sender == number
            and answer.ssid == SESSION
            and answer.ts_sender == sent
            and answer.ttl_sender == 64
            and sent - EDecimal("1e-6") <= answer.ts_rx <= answer.ts <= ended + EDecimal("1e-6")
        )
        misread += not right
    print(json.dumps({"received": received, "misread": misread}))


if sys.argv[1] == "reflect":
    reflect()
else:
    send(int(sys.argv[2]), int(sys.argv[3]))
