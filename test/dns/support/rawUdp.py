"""Sends UDP packets from any source port, including 0, which no socket can use. Each line `source target payload` (ports, hex)
on standard input is sent from 127.0.0.1 to 127.0.0.1 and confirmed by a line on standard output. Needs root."""
import socket
import struct
import sys

raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
print("ready", flush=True)
for line in sys.stdin:
    source, target, *payload = line.split()
    data = bytes.fromhex("".join(payload))
    # A checksum of 0 means no checksum (RFC 768).
    header = struct.pack("!HHHH", int(source), int(target), 8 + len(data), 0)
    raw.sendto(header + data, ("127.0.0.1", 0))
    print("sent", flush=True)
