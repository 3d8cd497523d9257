import { hasFailed } from '../chunk/attributes.ts';
import { blockAt, traceIndexAt } from '../position.ts';
import type { Hash } from '../trace.ts';
import { readHistory } from './page.ts';
import type { FramesPage, FramesQuery, HistoryFrame } from './query.ts';
import { type HistoryReader, WorkBudget } from './reader.ts';
import { TraceMatcher } from './traceMatcher.ts';

/** Returns one page of the frames that match a query. */
export function readFrames(reader: HistoryReader, query: FramesQuery): FramesPage {
  const { address, skip, ...rest } = query;
  const frames: HistoryFrame[] = [];
  let found = 0;
  const matcher = new TraceMatcher({}, reader, new WorkBudget());
  const { next, missing } = readHistory(
    reader,
    { ...rest, addresses: address === undefined ? 'all' : [address] },
    (segment, positions) => {
      for (const position of positions) {
        if (found++ < skip) continue;
        const [blockNumber, traceIndex] = [blockAt(segment, position), traceIndexAt(position)];
        const block = reader.block(blockNumber);
        frames.push({
          ...reader.frame(blockNumber, traceIndex),
          blockNumber,
          blockHash: block?.hash ?? ('0x' as Hash), // the snapshot contains the block of each position
          timestamp: block?.timestamp ?? 0,
          hasFailed: hasFailed(matcher.attributesOf(blockNumber, traceIndex)),
        });
      }
      return positions.length;
    },
  );
  return { frames, found, next, missing };
}
