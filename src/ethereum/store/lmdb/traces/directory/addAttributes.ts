import { WorkLeft } from '../../../../traces/index.ts';
import { uint32Key } from '../keys.ts';
import { Writes } from '../writes.ts';
import { NO_ATTRIBUTES_KEY } from './directoryKeys.ts';
import { LmdbHistoryReader } from './historyReader.ts';
import { type DirectoryWork, inSteps, STEP_MS } from './work.ts';

/** Adds the attributes of traces to blocks of an index that was made before there were any. */
export function addAttributes(work: DirectoryWork): Promise<void> {
  const { environment, state, commit } = work;
  return inSteps(work, async () => {
    const index = state();
    const { attributes, blocks, meta } = environment;
    const first = index.blocksWithoutAttributes();
    if (first === undefined || attributes === undefined) return true;
    const reader = new LmdbHistoryReader(environment, index);
    const writes = new Writes();
    const endMs = performance.now() + STEP_MS;
    let next: number | undefined;
    for (const key of [...blocks.getKeys({ start: uint32Key(first), limit: MAX_BLOCKS_PER_STEP })]) {
      if (next !== undefined && performance.now() > endMs) break;
      const blockNumber = key.readUInt32BE(0);
      next = blockNumber + 1;
      if (index.read(attributes, key) !== undefined) continue;
      const words = reader.attributesAnew(blockNumber, new WorkLeft());
      writes.put(attributes, uint32Key(blockNumber), Buffer.from(words.buffer));
    }
    if (next === undefined) writes.delete(meta, NO_ATTRIBUTES_KEY);
    else writes.put(meta, NO_ATTRIBUTES_KEY, uint32Key(next));
    await commit(writes);
    return next === undefined;
  });
}

const MAX_BLOCKS_PER_STEP = 64;
