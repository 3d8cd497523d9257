import type { Placement, Quantity } from '../index.ts';
import { countUpTo, listUpTo } from './readJson.ts';

/** A frame runs at most 1024 calls below the root (Ethereum's rule); one that failed for that depth stands one deeper. */
export const MAX_TRACE_DEPTH = 1025;
/** Most children of a frame and most frames of a block: 100 million gas buy a million calls of the cheapest kind. */
export const MAX_FRAMES = 1_000_000;
export const asFrameList = listUpTo(MAX_FRAMES);
/** What counts frames, children or transactions of a block, or numbers them. */
export const asFrameCount = countUpTo(MAX_FRAMES);

export const ZERO = '0x0' as Quantity; // the canonical zero

/** Where a frame stands. Unlike a reward it belongs to a transaction. */
export interface FramePlacement extends Placement {
  readonly transactionHash: NonNullable<Placement['transactionHash']>;
  readonly transactionPosition: number;
}

/** Puts a frame together, with its keys in the canonical order: an `error` stands between the others or not at all. */
// biome-ignore lint/complexity/useMaxParams: called for each trace that is read: no object is made
export function assembleFrame<Action, Result, Type>(
  action: Action,
  at: FramePlacement,
  error: string | undefined,
  result: Result,
  type: Type,
) {
  const { blockHash, blockNumber, subtraces, traceAddress, transactionHash, transactionPosition } = at;
  // Two whole literals: spreading a common part would cost a third of the time of reading a trace.
  return error === undefined
    ? {
        action,
        blockHash,
        blockNumber,
        result,
        subtraces,
        traceAddress,
        transactionHash,
        transactionPosition,
        type,
      }
    : {
        action,
        blockHash,
        blockNumber,
        error,
        result,
        subtraces,
        traceAddress,
        transactionHash,
        transactionPosition,
        type,
      };
}
