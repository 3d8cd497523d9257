import type { Data, Hash, Trace } from '../trace.ts';
import { ByteWriter } from './byteWriter.ts';
import {
  CALL_TYPES,
  CREATION_METHODS,
  HAS_ADDRESS,
  HAS_ERROR,
  HAS_RESULT,
  HAS_SHARED,
  NO_TRANSACTION,
  REWARD_TYPES,
  TRACE_TYPES,
  TRACES_PER_CHUNK,
  VARIANT_SHIFT,
} from './format.ts';
import { inputOf, outputOf, RepeatedData } from './repeatedData.ts';

const writer = new ByteWriter();

/** Encodes a block's traces as chunks, followed by data chunks. All chunks share one buffer. Format: format.ts. */
export function encodeChunks(blockHash: Hash, traces: readonly Trace[]): Uint8Array[] {
  writer.reset();
  const repeated = new RepeatedData(traces, Math.ceil(traces.length / TRACES_PER_CHUNK));
  const ends: number[] = [];
  for (let first = 0; first < traces.length; first += TRACES_PER_CHUNK) {
    encodeChunk(blockHash, traces.slice(first, first + TRACES_PER_CHUNK), repeated);
    ends.push(writer.length);
  }
  for (const data of repeated.chunks) {
    writer.byte(0);
    writer.byte(0);
    writer.hex(blockHash);
    writer.hex(data);
    ends.push(writer.length);
  }
  const all = writer.copy();
  return ends.map((end, i) => all.subarray(i === 0 ? 0 : ends[i - 1], end));
}

function encodeChunk(blockHash: Hash, traces: readonly Trace[], repeated: RepeatedData): void {
  const transactions = transactionsOf(traces);
  const start = writer.length;
  writer.byte(traces.length);
  writer.byte(transactions.length);
  writer.hex(blockHash);
  for (const { transactionHash, transactionPosition } of transactions) {
    writer.hex(transactionHash ?? '');
    writer.uint32(transactionPosition ?? 0);
  }
  const offsetsAt = writer.length;
  writer.skip(4 * traces.length);
  traces.forEach((trace, i) => {
    writer.uint32At(offsetsAt + 4 * i, writer.length - start);
    const index = transactions.findIndex(({ transactionHash }) => transactionHash === trace.transactionHash);
    encodeRecord(trace, index === -1 ? NO_TRANSACTION : index, repeated);
  });
}

/** Returns one trace of each transaction in a chunk. A chunk has at most eight traces, so linear search suffices. */
function transactionsOf(traces: readonly Trace[]): Trace[] {
  const found: Trace[] = [];
  for (const trace of traces)
    if (
      trace.transactionHash !== null &&
      !found.some(({ transactionHash }) => transactionHash === trace.transactionHash)
    )
      found.push(trace);
  return found;
}

function encodeRecord(trace: Trace, transactionIndex: number, repeated: RepeatedData): void {
  const shared = repeated.isEmpty ? undefined : sharedPayloads(trace, repeated);
  writer.byte(kindOf(trace) | (shared === undefined ? 0 : HAS_SHARED));
  writer.byte(transactionIndex);
  writer.varint(trace.subtraces);
  writer.varint(trace.traceAddress.length);
  for (const index of trace.traceAddress) writer.varint(index);
  encodeAction(trace, shared);
  if (trace.type !== 'reward' && trace.error !== undefined) writer.text(JSON.stringify(trace.error));
}

/** Returns the numbers of the data chunks with a trace's input and output; undefined if its record contains both. */
function sharedPayloads(trace: Trace, repeated: RepeatedData): SharedPayloads | undefined {
  const inputChunk = repeated.chunkOf(inputOf(trace));
  const outputChunk = repeated.chunkOf(outputOf(trace));
  return inputChunk === undefined && outputChunk === undefined ? undefined : { inputChunk, outputChunk };
}

interface SharedPayloads {
  readonly inputChunk: number | undefined;
  readonly outputChunk: number | undefined;
}

function encodePayload(data: Data, shared: SharedPayloads | undefined, chunk: number | undefined): void {
  if (shared === undefined) return writer.data(data);
  if (chunk !== undefined) return writer.varint(2 * chunk + 1);
  writer.varint(data.length - 2);
  writer.hex(data);
}

function encodeAction(trace: Trace, shared: SharedPayloads | undefined): void {
  switch (trace.type) {
    case 'call': {
      const { from, to, gas, value, input } = trace.action;
      writer.hex(from);
      writer.hex(to);
      writer.quantity(gas);
      writer.quantity(value);
      encodePayload(input, shared, shared?.inputChunk);
      if (trace.result === null) return;
      writer.quantity(trace.result.gasUsed);
      encodePayload(trace.result.output, shared, shared?.outputChunk);
      return;
    }
    case 'create': {
      const { from, gas, value, init } = trace.action;
      writer.hex(from);
      writer.quantity(gas);
      writer.quantity(value);
      encodePayload(init, shared, shared?.inputChunk);
      if (trace.result === null) return;
      if ('address' in trace.result) writer.hex(trace.result.address);
      writer.quantity(trace.result.gasUsed);
      encodePayload(
        'address' in trace.result ? trace.result.code : trace.result.output,
        shared,
        shared?.outputChunk,
      );
      return;
    }
    case 'suicide':
      writer.hex(trace.action.address);
      writer.hex(trace.action.refundAddress);
      writer.quantity(trace.action.balance);
      return;
    case 'reward':
      writer.hex(trace.action.author);
      writer.quantity(trace.action.value);
      return;
  }
}

function kindOf(trace: Trace): number {
  const type = TRACE_TYPES.indexOf(trace.type);
  const error = trace.type !== 'reward' && trace.error !== undefined ? HAS_ERROR : 0;
  const result = trace.result === null ? 0 : HAS_RESULT;
  const address = trace.result !== null && 'address' in trace.result ? HAS_ADDRESS : 0;
  return type | error | result | address | (variantOf(trace) << VARIANT_SHIFT);
}

function variantOf(trace: Trace): number {
  switch (trace.type) {
    case 'call':
      return CALL_TYPES.indexOf(trace.action.callType);
    case 'create':
      return CREATION_METHODS.indexOf(trace.action.creationMethod);
    case 'reward':
      return REWARD_TYPES.indexOf(trace.action.rewardType);
    case 'suicide':
      return 0;
  }
}
