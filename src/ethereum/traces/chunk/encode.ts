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

/** The traces of one block as chunks, in order; the last may hold fewer traces. They share one buffer. Format: format.ts. */
export function encodeChunks(blockHash: Hash, traces: readonly Trace[]): Uint8Array[] {
  writer.reset();
  const ends: number[] = [];
  for (let first = 0; first < traces.length; first += TRACES_PER_CHUNK) {
    encodeChunk(blockHash, traces.slice(first, first + TRACES_PER_CHUNK));
    ends.push(writer.length);
  }
  const all = writer.copy();
  return ends.map((end, i) => all.subarray(i === 0 ? 0 : ends[i - 1], end));
}

function encodeChunk(blockHash: Hash, traces: readonly Trace[]): void {
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
    encodeRecord(trace, index === -1 ? NO_TRANSACTION : index);
  });
}

/** A trace of each transaction that the traces of a chunk are of: there are few, so a list will do. */
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
