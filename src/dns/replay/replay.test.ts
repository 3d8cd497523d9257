import { describe, expect, it } from 'vitest';
import { AttackDetector } from '../detector/index.ts';
import { nameToWire, QueryType, queryPacket } from '../protocol/index.ts';
import { type Datagram, datagramsOf, PcapError } from './pcap.ts';
import { replay } from './replay.ts';

const START_MS = Date.UTC(2026, 10, 21);

interface Packet {
  readonly timeMs: number;
  readonly ports: readonly [number, number];
  readonly payload: Uint8Array;
}
/** Returns a pcap capture with Ethernet frames over IPv4, as tcpdump writes it. */
function recording(packets: readonly Packet[], little = true): Buffer {
  const header = Buffer.alloc(24);
  const write = (buffer: Buffer, value: number, at: number) =>
    little ? buffer.writeUInt32LE(value, at) : buffer.writeUInt32BE(value, at);
  write(header, 0xa1b2c3d4, 0);
  write(header, 65_535, 16);
  write(header, 1, 20);
  const records = packets.map(({ timeMs, ports, payload }) => {
    const frame = Buffer.alloc(14 + 20 + 8);
    frame.writeUInt16BE(0x0800, 12);
    frame[14] = 0x45;
    frame[14 + 9] = 17;
    frame.set([192, 0, 2, 1], 14 + 12);
    frame.set([198, 51, 100, timeMs % 250], 14 + 16);
    frame.writeUInt16BE(ports[0], 34);
    frame.writeUInt16BE(ports[1], 36);
    frame.writeUInt16BE(8 + payload.length, 38);
    const record = Buffer.alloc(16);
    write(record, Math.floor(timeMs / 1000), 0);
    write(record, Math.round((timeMs % 1000) * 1000), 4);
    write(record, frame.length + payload.length, 8);
    return Buffer.concat([record, frame, payload]);
  });
  return Buffer.concat([header, ...records]);
}
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function all(bytes: Buffer, size = 1000): Promise<Datagram[]> {
  const found: Datagram[] = [];
  for await (const datagram of datagramsOf(inPieces(bytes, size))) found.push(datagram);
  return found;
}
const query = (name: string): Uint8Array => queryPacket(nameToWire(name), 1);
const answer = (name: string, rcode: number): Uint8Array => {
  const packet = query(name);
  packet[2] = 0x80;
  packet[3] = rcode;
  return packet;
};

describe('datagramsOf', () => {
  const packets = Array.from({ length: 20 }, (_, i) => ({
    timeMs: START_MS + i * 10,
    ports: [1000 + i, 53] as const,
    payload: query(`n${i}.example.test`),
  }));

  it.each([true, false])('reads all packets from chunks of any size; little-endian: %s', async (little) => {
    for (const size of [1, 7, 100, 100_000]) {
      const found = await all(recording(packets, little), size);
      expect(found.map(({ timeMs }) => timeMs)).toEqual(packets.map(({ timeMs }) => timeMs));
      expect(found.map(({ sourcePort }) => sourcePort)).toEqual(packets.map(({ ports }) => ports[0]));
      expect(Buffer.from(found[3]?.payload ?? [])).toEqual(Buffer.from(packets[3]?.payload ?? []));
    }
  });

  it('rejects a file that is corrupt or not a pcap capture, with a remedy in the message', async () => {
    await expect(all(Buffer.alloc(10))).rejects.toThrow(PcapError);
    await expect(all(Buffer.alloc(100))).rejects.toThrow(/tcpdump -w/);
    const next = recording([]);
    next.writeUInt32LE(0x0a0d0d0a, 0);
    await expect(all(next)).rejects.toThrow(/editcap/);
    const damaged = recording(packets);
    damaged.writeUInt32LE(0xffffff, 24 + 8);
    await expect(all(damaged)).rejects.toThrow(/corrupt capture/);
  });
});

describe('replay', () => {
  it('reports the queries that would have been dropped, and the existing names among them', async () => {
    const packets: Packet[] = [];
    const exchange = (name: string, rcode: number, timeMs: number) => {
      packets.push({ timeMs, ports: [4000, 53], payload: query(name) });
      packets.push({ timeMs, ports: [53, 4000], payload: answer(name, rcode) });
    };
    for (let second = 0; second < 130; second++)
      for (let i = 0; i < 10; i++) exchange(`h${i}.example.test`, 0, START_MS + second * 1000 + i * 50);
    const floodMs = START_MS + 130_000;
    for (let i = 0; i < 3000; i++) exchange(`x${i}.example.test`, 3, floodMs + i);
    exchange('h1.example.test', 0, floodMs + 3000);
    for (let i = 0; i < 50; i++) exchange(`rare${i}.example.test`, 0, floodMs + 3001 + i);
    const detectorAt = async (startMs: number) => {
      const detector = new AttackDetector(
        { high: 1, low: 2 },
        { learnForMinutes: 0, profile: { maxNames: 1000 } },
        startMs,
      );
      const stamps = { created_on: '', modified_on: '' };
      const settings = {
        profile_sensitivity: 'medium',
        rate_sensitivity: 'medium',
        burst_sensitivity: 'medium',
      } as const;
      detector.setRule(
        { id: 'r', scope: 'global', name: 'g', mode: 'enabled', ...settings, ...stamps },
        startMs,
      );
      return detector;
    };
    const result = await replay(datagramsOf(inPieces(recording(packets), 4096)), detectorAt, 53);
    expect(result).toMatchObject({ queries: 4351, answers: 4351, unreadable: 0 });
    expect(result.outcomes['dropped']).toBeGreaterThan(2100);
    expect(result.attackSeconds).toBeGreaterThan(0);
    const refused = [...result.existingLimited.keys()];
    expect(refused.length).toBeGreaterThan(30);
    expect(refused.filter((name) => !name.startsWith('rare'))).toEqual([]);
  });

  it('learns nothing from the answer to a zone transfer, like the guard', async () => {
    const axfr = Uint8Array.from(queryPacket(nameToWire('example.test'), QueryType.AXFR));
    axfr[2] = 0x80;
    const packets = [0, 250].map((ms) => ({
      timeMs: START_MS + ms,
      ports: [53, 4000] as const,
      payload: axfr,
    }));
    const detector = new AttackDetector({ high: 1, low: 2 }, { profile: { maxNames: 1000 } }, START_MS);
    await replay(datagramsOf(inPieces(recording(packets), 4096)), async () => detector, 53);
    expect(detector.profile.size).toBe(0);
    expect(detector.zones.outside.learned().positiveAnswers).toBe(0);
  });
});
