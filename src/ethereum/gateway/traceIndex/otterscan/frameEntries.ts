import type { Address } from '../../../traces/index.ts';
import { type Frame, outputOf } from '../traces/replayed.ts';

type Frames = readonly Frame[];

/** Result entry of ots_traceTransaction, in the form of Erigon. */
interface TraceEntry {
  readonly type: string;
  readonly depth: number;
  readonly from: string;
  /** Null for a failed creation, because traces do not contain the address of its contract. */
  readonly to: string | null;
  /** Null for calls that cannot have a value. */
  readonly value: string | null;
  readonly input: string;
  readonly output: string;
}

/**
 * Returns a function that converts the frames of a transaction, in pre-order and in any number of slices, to the
 * entries of ots_traceTransaction. Calls of the precompiled contracts are omitted, except a root frame.
 */
export function traceEntries(
  rootOutput: string,
  precompiles: ReadonlySet<Address>,
): (frames: Frames) => TraceEntry[] {
  let previousDepth = -1;
  const entryOf = (frame: Frame): TraceEntry | undefined => {
    const depth = frame.traceAddress.length;
    if (frame.type === 'suicide')
      // Erigon's depth of a destruction is that of the previous entry plus 1, even if that entry is not its parent.
      return {
        type: 'SELFDESTRUCT',
        depth: previousDepth + 1,
        ...partiesOf(frame),
        value: frame.action.balance,
        input: '0x',
        output: '0x',
      };
    if (depth > 0 && frame.type === 'call' && precompiles.has(frame.action.to)) return undefined;
    return {
      type: typeOf(frame),
      depth,
      ...partiesOf(frame),
      value: valueIn(frame),
      input: frame.type === 'create' ? frame.action.init : frame.action.input,
      output: depth === 0 ? rootOutput : (outputOf(frame) ?? '0x'),
    };
  };
  return (frames) =>
    frames.flatMap((frame) => {
      const entry = entryOf(frame);
      if (entry === undefined) return [];
      previousDepth = entry.depth;
      return [entry];
    });
}

/** Type of an entry of ots_getInternalOperations. */
const OPERATION = { transfer: 0, selfDestruct: 1, create: 2, create2: 3 } as const;

interface Operation {
  readonly type: number;
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
}

/**
 * Returns the frames below the root that transfer value, or that create or destroy a contract, as
 * ots_getInternalOperations lists them. Like in Erigon, reverted frames are included.
 */
export function internalOperations(frames: Frames): Operation[] {
  return frames
    .filter((frame) => frame.traceAddress.length > 0)
    .flatMap((frame): Operation[] => {
      const parties = partiesOf(frame);
      if (frame.type === 'suicide')
        return [{ type: OPERATION.selfDestruct, ...parties, value: frame.action.balance }];
      const { value } = frame.action;
      if (frame.type === 'create')
        return [{ type: isCreate2(frame) ? OPERATION.create2 : OPERATION.create, ...parties, value }];
      const isTransfer = frame.action.callType === 'call' && value !== '0x0';
      return isTransfer ? [{ type: OPERATION.transfer, ...parties, value }] : [];
    });
}

function partiesOf(frame: Frame): { from: string; to: string | null } {
  switch (frame.type) {
    case 'call':
      return { from: frame.action.from, to: frame.action.to };
    case 'create':
      return {
        from: frame.action.from,
        to: frame.result !== null && 'address' in frame.result ? frame.result.address : null,
      };
    case 'suicide':
      return { from: frame.action.address, to: frame.action.refundAddress };
  }
}

const isCreate2 = (frame: Extract<Frame, { type: 'create' }>): boolean =>
  frame.action.creationMethod === 'create2';

function typeOf(frame: Exclude<Frame, { type: 'suicide' }>): string {
  if (frame.type === 'create') return isCreate2(frame) ? 'CREATE2' : 'CREATE';
  return frame.action.callType.toUpperCase();
}

function valueIn(frame: Exclude<Frame, { type: 'suicide' }>): string | null {
  const hasNone =
    frame.type === 'call' &&
    (frame.action.callType === 'staticcall' || frame.action.callType === 'delegatecall');
  return hasNone ? null : frame.action.value;
}
