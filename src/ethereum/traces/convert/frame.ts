import type { Address, Placement, Quantity } from '../index.ts';
import { countUpTo, listUpTo } from './json/readJson.ts';

/** Maximum length of a trace address: 1,024 calls below the root, and one call that fails because it is too deep. */
export const MAX_TRACE_DEPTH = 1025;
/** Maximum number of frames per block. 100 million gas pay for one million of the cheapest calls. */
export const MAX_FRAMES = 1_000_000;
export const asFrameList = listUpTo(MAX_FRAMES);
export const asFrameCount = countUpTo(MAX_FRAMES);

export const ZERO = '0x0' as Quantity; // canonical zero
/** Zero address. No contract has this address, so it cannot be that of a destroyed contract. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address; // 20 bytes of lower-case hex

/** Position of a frame in its block. Unlike a reward, a frame belongs to a transaction. */
export interface FramePlacement extends Placement {
  readonly transactionHash: NonNullable<Placement['transactionHash']>;
  readonly transactionPosition: number;
}

/** Builds a frame with its keys in canonical order. Without an error, it has no key `error`. */
// biome-ignore lint/complexity/useMaxParams: called for each trace that is read; avoids an allocation
export function assembleFrame<Action, Result, Type>(
  action: Action,
  at: FramePlacement,
  error: string | undefined,
  result: Result,
  type: Type,
) {
  const { blockHash, blockNumber, subtraces, traceAddress, transactionHash, transactionPosition } = at;
  // There are two complete literals, because spreading a common part would make reading a trace a third slower.
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
