import { BLOCKS_PER_SEGMENT, firstBlockOf, TRACES_PER_CHUNK } from '../../../../traces/index.ts';
import { AddressTally } from './addressTally.ts';
import { directoryHash, RunWriter } from './runWriter.ts';
import { type DirectoryWork, inSteps, STEP_MS } from './work.ts';

/** Chunks that are read before the clock is looked at. */
const CHUNKS_PER_LOOK = 32;

/** Makes the run of one segment out of its traces. Given up where its blocks change meanwhile. */
export async function buildRun(work: DirectoryWork, segment: number): Promise<void> {
  const before = work.changesOf(segment);
  const isCurrent = (): boolean => work.changesOf(segment) === before;
  const tally = new AddressTally(await directoryHash(work));
  const chunks = chunksOf(work, segment);
  await inSteps(work, () => {
    const endMs = performance.now() + STEP_MS;
    for (let read = 1; isCurrent(); read++) {
      const { value: chunk } = chunks.next();
      if (chunk === undefined) return true;
      tally.add(chunk.bytes, chunk.blockNumber, chunk.firstIndex);
      if (read % CHUNKS_PER_LOOK === 0 && performance.now() > endMs) return false;
    }
    return true;
  });
  if (!isCurrent() || work.isStopped()) return;
  await new RunWriter(work, { level: 0, run: segment }, isCurrent).write(tally.run(segment));
}

interface ChunkAt {
  readonly bytes: Uint8Array;
  readonly blockNumber: number;
  readonly firstIndex: number;
}

/** The chunks of a segment in order, each as bytes that are good until the next is asked for. */
function* chunksOf({ state }: DirectoryWork, segment: number): Generator<ChunkAt, undefined> {
  const first = firstBlockOf(segment);
  for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
    const counts = state().traceCounts(segment);
    const traces = counts.before(offset + 1) - counts.before(offset);
    const blockNumber = first + offset;
    for (let firstIndex = 0; firstIndex < traces; firstIndex += TRACES_PER_CHUNK)
      yield { bytes: state().chunk(blockNumber, firstIndex), blockNumber, firstIndex };
  }
  return undefined;
}
