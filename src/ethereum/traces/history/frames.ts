import { hasFailed } from '../chunk/attributes.ts';
import { TRACES_PER_CHUNK } from '../chunk/format.ts';
import { internalFrameAt, transactionHashAt } from '../chunk/internalFrame.ts';
import { blockAt, traceIndexAt } from '../position.ts';
import type { Hash } from '../trace.ts';
import { readHistory } from './page.ts';
import type { DecodeFrame, FramesPage, FramesQuery, HistoryFrame, HistoryTransaction } from './query.ts';
import { type HistoryReader, WorkBudget } from './reader.ts';
import { TraceMatcher } from './traceMatcher.ts';

export const transactionOf: DecodeFrame<HistoryTransaction> = (frame) => ({
  transactionHash: transactionHashAt(frame.chunk, frame.traceIndex % TRACES_PER_CHUNK),
  traceIndex: frame.traceIndex,
  blockNumber: frame.blockNumber,
  blockHash: frame.blockHash,
  timestamp: frame.timestamp,
});

export const historyFrameOf: DecodeFrame<HistoryFrame> = (frame) => ({
  ...internalFrameAt(frame.chunk, frame.traceIndex % TRACES_PER_CHUNK),
  ...transactionOf(frame),
  hasFailed: hasFailed(frame.attributes()),
});

/** Returns one page of the frames that match a query. */
export function readFrames<T>(
  reader: HistoryReader,
  query: FramesQuery,
  decode: DecodeFrame<T>,
): FramesPage<T> {
  const { address, skip, ...rest } = query;
  const frames: T[] = [];
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
        const frame = {
          chunk: reader.chunk(blockNumber, traceIndex),
          traceIndex,
          blockNumber,
          blockHash: block?.hash ?? ('0x' as Hash), // the snapshot contains the block of each position
          timestamp: block?.timestamp ?? 0,
          attributes: () => matcher.attributesOf(blockNumber, traceIndex),
        };
        frames.push(decode(frame));
      }
      return positions.length;
    },
  );
  return { frames, found, next, missing };
}
