const RAW_IP = 101;
const IP_BYTES = 20;
const UDP_BYTES = 8;
const UDP = 17;
const CLIENT_PORT = 4000;
const DNS_PORT = 53;

export interface RecordedQuery {
  readonly timeMs: number;
  readonly packet: Uint8Array;
}

/** Returns a recording in pcap format, as tcpdump writes it, of queries from one client. */
export function recordingOf(queries: readonly RecordedQuery[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt32LE(RAW_IP, 20);
  return Buffer.concat([header, ...queries.map(recorded)]);
}

function recorded({ timeMs, packet }: RecordedQuery): Buffer {
  const bytes = Buffer.alloc(16 + IP_BYTES + UDP_BYTES);
  bytes.writeUInt32LE(Math.floor(timeMs / 1000), 0);
  bytes.writeUInt32LE((timeMs % 1000) * 1000, 4);
  bytes.writeUInt32LE(IP_BYTES + UDP_BYTES + packet.length, 8);
  const ip = bytes.subarray(16);
  ip[0] = 0x45;
  ip[9] = UDP;
  ip.set([192, 0, 2, 1, 198, 51, 100, 1], 12);
  ip.writeUInt16BE(CLIENT_PORT, IP_BYTES);
  ip.writeUInt16BE(DNS_PORT, IP_BYTES + 2);
  ip.writeUInt16BE(UDP_BYTES + packet.length, IP_BYTES + 4);
  return Buffer.concat([bytes, packet]);
}
