import {
  CHUNK_HEAD_BYTES,
  JsonWriter,
  type StoredBlock,
  TRACES_PER_CHUNK,
  type Trace,
  writeTrace,
} from '../../../traces/index.ts';
import { DamagedIndexError } from './damagedIndexError.ts';
import type { IndexState } from './indexState.ts';

/**
 * Yields the traces of a block. Input and output that is stored in data chunks becomes `0x`, because its text can be
 * thousands of times larger than the index. Throws if a data chunk is missing or belongs to another block.
 */
export function* storedTraces(
  state: IndexState,
  { number, hash, traceCount }: StoredBlock,
): Generator<Trace> {
  const json = new JsonWriter();
  const headOfData = (blockNumber: number, chunk: number): Uint8Array => {
    const head = state.dataChunk(blockNumber, chunk).subarray(0, CHUNK_HEAD_BYTES);
    if (head[0] !== 0 || head.toString('hex', 2) !== hash.slice(2))
      throw new DamagedIndexError(`chunk ${chunk} of block ${blockNumber} has no data of this block`);
    return head;
  };
  for (let index = 0; index < traceCount; index++) {
    json.reset();
    writeTrace(json, state.chunk(number, index), index % TRACES_PER_CHUNK, number, headOfData);
    yield JSON.parse(json.written().toString()) as Trace; // written from a verified trace
  }
}
