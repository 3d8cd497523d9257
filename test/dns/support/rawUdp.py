"""Sends UDP packets as no socket of the system would: any source port, 0 among them. A line `source target payload` (ports, hex)
on the standard input is a packet from 127.0.0.1 to 127.0.0.1; each is confirmed by a line. Needs root."""
import socket
import struct
import sys

raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
print("ready", flush=True)
for line in sys.stdin:
    source, target, *payload = line.split()
    data = bytes.fromhex("".join(payload))
    # A checksum of 0 says that there is none (RFC 768).
    header = struct.pack("!HHHH", int(source), int(target), 8 + len(data), 0)
    raw.sendto(header + data, ("127.0.0.1", 0))
    print("sent", flush=True)
