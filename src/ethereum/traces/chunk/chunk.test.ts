import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyTrace } from '../trace.arbitrary.ts';
import type { Address, CallAction, Data, Hash, Quantity, Trace } from '../trace.ts';
import { dataChunksOf } from './dataChunks.ts';
import { encodeChunks } from './encode.ts';
import { CHUNK_HEAD_BYTES, chunkOf, TRACES_PER_CHUNK } from './format.ts';
import { internalFrameAt } from './internalFrame.ts';
import { JsonWriter } from './jsonWriter.ts';
import { inputOf, outputOf } from './repeatedData.ts';
import { writeTrace } from './writeTrace.ts';

const json = new JsonWriter();

function readBack(chunks: readonly Uint8Array[], place: number, blockNumber: number): string {
  const chunk = chunks[chunkOf(place)];
  if (chunk === undefined) throw new Error(`no chunk for trace ${place}`);
  json.reset();
  const readData = (_: number, number: number): Uint8Array => {
    const data = chunks[number];
    if (data === undefined || data[0] !== 0) throw new Error(`chunk ${number} has no data`);
    return data;
  };
  writeTrace(json, chunk, place % TRACES_PER_CHUNK, blockNumber, readData);
  return json.copy().toString();
}

test('every trace of a block is read back from its chunk unchanged', () => {
  fc.assert(
    fc.property(
      fc.array(anyTrace(), { minLength: 1, maxLength: 40 }),
      fc.nat(2 ** 40),
      (traces: Trace[], blockNumber) => {
        const blockHash = `0x${'ab'.repeat(32)}` as Hash; // literal of the right form
        const placed = traces.map((trace) => ({ ...trace, blockHash, blockNumber }));
        const chunks = encodeChunks(blockHash, placed);
        placed.forEach((trace, place) => {
          expect(readBack(chunks, place, blockNumber)).toBe(JSON.stringify(trace));
        });
      },
    ),
  );
});

test('every frame of a block is decoded without its data', () => {
  const frames = anyTrace().filter(({ type }) => type !== 'reward');
  fc.assert(
    fc.property(fc.array(frames, { minLength: 1, maxLength: 12 }), (traces) => {
      const chunks = encodeChunks(traces[0]?.blockHash as Hash, traces);
      const decoded = traces.map((_, i) =>
        internalFrameAt(chunks[chunkOf(i)] ?? new Uint8Array(), i % TRACES_PER_CHUNK),
      );
      expect(decoded).toEqual(traces.map(frameOf));
    }),
  );
});

test('the data chunks of a trace contain its repeated input and output', () => {
  const long = ['5a', '6b'].map((byte) => `0x${byte.repeat(65_536)}` as Data);
  const [first, second] = long as [Data, Data];
  const failed = { result: null, error: 'Reverted' };
  const created = { ...callWith(first, 0), type: 'create' };
  const { from, gas, value } = callWith(first, 0).action as CallAction;
  const traces = [
    callWith(second, 0),
    { ...callWith(first, 1), ...failed },
    {
      ...created,
      action: { from, gas, value, init: second },
      result: { address: from, code: first, gasUsed: gas },
    },
    { ...created, action: { from, gas, value, init: first }, ...failed },
    { ...created, action: { from, gas, value, init: '0x' }, result: { gasUsed: gas, output: second } },
    { ...callWith(first, 5), result: { gasUsed: gas, output: second } },
  ] as Trace[];
  const chunks = encodeChunks(traces[0]?.blockHash as Hash, traces);
  const referenced = traces.map((_, i) =>
    dataChunksOf(chunks[0] ?? new Uint8Array(), i).map((number) => {
      const data = chunks[number]?.subarray(CHUNK_HEAD_BYTES) ?? [];
      return `0x${Buffer.from(data).toString('hex')}`;
    }),
  );
  expect(referenced.map((data) => data.map((text) => text.slice(0, 6)))).toEqual(
    traces.map((trace) =>
      [inputOf(trace), outputOf(trace)].flatMap((data) =>
        data === first || data === second ? [data.slice(0, 6)] : [],
      ),
    ),
  );
});

test('a call repeated 1,150 times with the same 100 kB takes 100 kB and the bytes of the frames', () => {
  const input = `0x${'5a'.repeat(100_000)}` as Data;
  const traces = Array.from({ length: 1_150 }, (_, i) => callWith(input, i));
  const bytes = encodeChunks(traces[0]?.blockHash as Hash, traces).reduce(
    (sum, chunk) => sum + chunk.length,
    0,
  );
  expect(bytes).toBeLessThan(100_000 + 200 * traces.length);
});

test('data of at least 256 bytes is stored once if that saves 64 KiB', () => {
  const chunksWith = (bytes: number, count: number): number => {
    const traces = Array.from({ length: count }, (_, i) => callWith(`0x${'5a'.repeat(bytes)}` as Data, i));
    return encodeChunks(traces[0]?.blockHash as Hash, traces).filter((chunk) => chunk[0] === 0).length;
  };
  expect([chunksWith(256, 256), chunksWith(256, 257), chunksWith(255, 500)]).toEqual([0, 1, 0]);
  expect([chunksWith(65_536, 2), chunksWith(65_534, 2), chunksWith(100_000, 1)]).toEqual([1, 0, 0]);
});

test('long inputs that differ only at the end are each stored once', () => {
  const long = (end: number): Data => `0x${'5a'.repeat(50_000)}${end.toString(16).padStart(2, '0')}` as Data;
  const traces = Array.from({ length: 60 }, (_, i) => callWith(long(i % 20), i));
  const chunks = encodeChunks(traces[0]?.blockHash as Hash, traces);
  expect(chunks.filter((chunk) => chunk[0] === 0)).toHaveLength(20);
  traces.forEach((trace, place) => {
    expect(readBack(chunks, place, 7)).toBe(JSON.stringify(trace));
  });
});

function callWith(input: Data, index: number): Trace {
  const address = `0x${'01'.repeat(20)}` as Address; // literals of the right form
  const hash = `0x${'ab'.repeat(32)}` as Hash;
  const gas = '0x5208' as Quantity;
  const path = index === 0 ? [] : [index - 1];
  return {
    action: { callType: 'call', from: address, gas, input, to: address, value: '0x0' as Quantity },
    blockHash: hash,
    blockNumber: 7,
    result: { gasUsed: gas, output: '0x' as Data },
    subtraces: 0,
    traceAddress: path,
    transactionHash: hash,
    transactionPosition: 0,
    type: 'call',
  };
}

/** Returns the frame that `internalFrameAt` decodes from a trace. */
function frameOf(trace: Trace) {
  if (trace.type === 'reward') throw new Error('a reward is not a frame');
  const { transactionHash, traceAddress, error } = trace;
  const base = {
    transactionHash,
    traceAddress,
    error,
    created: undefined,
    gas: undefined,
    gasUsed: undefined,
  };
  if (trace.type === 'suicide') {
    const { address, refundAddress, balance } = trace.action;
    return { ...base, type: trace.type, from: address, to: refundAddress, value: BigInt(balance) };
  }
  const { from, gas, value } = trace.action;
  const { result } = trace;
  return {
    ...base,
    from,
    gas: BigInt(gas),
    value: BigInt(value),
    type: trace.type === 'call' ? trace.type : (trace.action.creationMethod ?? 'create'),
    to: trace.type === 'call' ? trace.action.to : undefined,
    created: result !== null && 'address' in result ? result.address : undefined,
    gasUsed: result === null ? undefined : BigInt(result.gasUsed),
  };
}
