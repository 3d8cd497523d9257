import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameMeter } from './frameMeter.ts';

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly isMasked: boolean;
  readonly payloadBytes: number;
}

const [CONTINUATION, TEXT, PING] = [0, 1, 9];

function bytesOf({ opcode, isFinal, isMasked, payloadBytes }: Frame): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const first = (isFinal ? 0x80 : 0) | opcode;
  let header: Buffer;
  if (payloadBytes < 126) header = Buffer.from([first, mask | payloadBytes]);
  else if (payloadBytes < 65_536)
    header = Buffer.from([first, mask | 126, payloadBytes >> 8, payloadBytes & 0xff]);
  else {
    header = Buffer.alloc(10);
    header.set([first, mask | 127]);
    header.writeBigUInt64BE(BigInt(payloadBytes), 2);
  }
  return Buffer.concat([header, Buffer.alloc(isMasked ? 4 : 0, 0xff), Buffer.alloc(payloadBytes, 0x81)]);
}

const ping = fc.record({
  opcode: fc.constant(PING),
  isFinal: fc.constant(true),
  isMasked: fc.boolean(),
  payloadBytes: fc.nat(125),
});
/** Frames of one message, with pings between them. */
const message = fc
  .array(fc.tuple(fc.oneof(fc.nat(300), fc.nat(70_000)), fc.boolean(), fc.array(ping, { maxLength: 1 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) =>
    parts.flatMap(([payloadBytes, isMasked, pings], i): Frame[] => [
      { opcode: i === 0 ? TEXT : CONTINUATION, isFinal: i === parts.length - 1, isMasked, payloadBytes },
      ...(i === parts.length - 1 ? [] : pings),
    ]),
  );

describe('FrameMeter', () => {
  it('reports the received bytes of the current message for any chunking', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 4 }),
        fc.tuple(message, fc.double({ min: 0, max: 0.999, noNaN: true })),
        fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }),
        (whole, [last, share], cuts) => {
          const before = whole.flatMap((frames) => frames.map(bytesOf));
          const cut = Buffer.concat(last.map(bytesOf));
          const unfinished = cut.subarray(0, Math.floor(cut.length * share));
          const bytes = Buffer.concat([...before, unfinished]);
          const meter = new FrameMeter();
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const length = cuts[i % cuts.length] ?? 1;
            meter.read(bytes.subarray(at, at + length));
            at += length;
          }
          expect(meter.unfinishedBytes).toBe(unfinished.length === 0 ? undefined : unfinished.length);
          expect(meter.finished).toBe(whole.length);
        },
      ),
    );
  });

  it('counts an incomplete ping, and nothing after its end', () => {
    const meter = new FrameMeter();
    const bytes = bytesOf({ opcode: PING, isFinal: true, isMasked: true, payloadBytes: 10 });
    meter.read(bytes.subarray(0, 7));
    expect(meter.unfinishedBytes).toBe(7);
    meter.read(bytes.subarray(7));
    expect(meter.unfinishedBytes).toBeUndefined();
  });
});
