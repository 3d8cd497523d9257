import type { Hash, Trace } from '../trace.ts';
import { ByteWriter } from './byteWriter.ts';
import {
  CALL_TYPES,
  CREATION_METHODS,
  HAS_ADDRESS,
  HAS_ERROR,
  HAS_RESULT,
  NO_TRANSACTION,
  REWARD_TYPES,
  TRACE_TYPES,
  TRACES_PER_CHUNK,
  VARIANT_SHIFT,
} from './format.ts';

const writer = new ByteWriter();

/** The traces of one block as chunks, in order; the last may hold fewer traces. Format: format.ts. */
export function encodeChunks(blockHash: Hash, traces: readonly Trace[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let first = 0; first < traces.length; first += TRACES_PER_CHUNK)
    chunks.push(encodeChunk(blockHash, traces.slice(first, first + TRACES_PER_CHUNK)));
  return chunks;
}

function encodeChunk(blockHash: Hash, traces: readonly Trace[]): Uint8Array {
  const transactions = new Map<string, number>();
  for (const { transactionHash, transactionPosition } of traces)
    if (transactionHash !== null) transactions.set(transactionHash, transactionPosition ?? 0);
  const indexes = new Map([...transactions.keys()].map((hash, index) => [hash, index]));

  writer.reset();
  writer.byte(traces.length);
  writer.byte(transactions.size);
  writer.hex(blockHash);
  for (const [hash, position] of transactions) {
    writer.hex(hash);
    writer.uint32(position);
  }
  const offsetsAt = writer.length;
  writer.skip(4 * traces.length);
  traces.forEach((trace, i) => {
    writer.uint32At(offsetsAt + 4 * i, writer.length);
    encodeRecord(trace, indexes.get(trace.transactionHash ?? '') ?? NO_TRANSACTION);
  });
  return writer.copy();
}

function encodeRecord(trace: Trace, transactionIndex: number): void {
  writer.byte(kindOf(trace));
  writer.byte(transactionIndex);
  writer.varint(trace.subtraces);
  writer.varint(trace.traceAddress.length);
  for (const index of trace.traceAddress) writer.varint(index);
  encodeAction(trace);
  if (trace.type !== 'reward' && trace.error !== undefined) writer.text(JSON.stringify(trace.error));
}

function encodeAction(trace: Trace): void {
  switch (trace.type) {
    case 'call': {
      const { from, to, gas, value, input } = trace.action;
      writer.hex(from);
      writer.hex(to);
      writer.quantity(gas);
      writer.quantity(value);
      writer.data(input);
      if (trace.result === null) return;
      writer.quantity(trace.result.gasUsed);
      writer.data(trace.result.output);
      return;
    }
    case 'create': {
      const { from, gas, value, init } = trace.action;
      writer.hex(from);
      writer.quantity(gas);
      writer.quantity(value);
      writer.data(init);
      if (trace.result === null) return;
      if ('address' in trace.result) writer.hex(trace.result.address);
      writer.quantity(trace.result.gasUsed);
      writer.data('address' in trace.result ? trace.result.code : trace.result.output);
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
