import type { Decoder } from '../names/decoder.ts';
import type { Trace } from '../types.ts';
import { revertReason } from './revertReason.ts';

const SELECTOR_CHARACTERS = 10;

/** Returns a key of a trace. A block has several rewards, also for the same author. */
export const keyOfTrace = ({ blockHash, transactionHash, traceAddress, type, action }: Trace): string =>
  [blockHash, transactionHash ?? Object.values(action).join(' '), traceAddress.join('.'), type].join(' ');

/** Returns the sender and the recipient of a trace. A reward has no sender. */
export function partiesOf(trace: Trace): {
  readonly from: string | undefined;
  readonly to: string | undefined;
} {
  switch (trace.type) {
    case 'call':
      return { from: trace.action.from, to: trace.action.to };
    case 'create':
      return {
        from: trace.action.from,
        to: trace.result && 'address' in trace.result ? trace.result.address : undefined,
      };
    case 'suicide':
      return { from: trace.action.address, to: trace.action.refundAddress };
    case 'reward':
      return { from: undefined, to: trace.action.author };
  }
}

/** Returns the value in wei that a frame states, even if the value was not moved. */
export const valueIn = (trace: Trace): bigint =>
  BigInt(trace.type === 'suicide' ? trace.action.balance : trace.action.value);

/** Returns why the value of a frame was not moved; undefined if it was. `isUndone`: a frame above this one failed. */
export function whyNotMoved(trace: Trace, isUndone = false): string | undefined {
  if (trace.type === 'call' && trace.action.callType === 'delegatecall')
    return 'a delegatecall repeats the value of its caller';
  if (trace.type === 'call' && trace.action.callType !== 'call')
    return `a ${trace.action.callType} pays no other account`;
  if ('error' in trace && trace.error !== undefined) return 'it failed';
  return isUndone ? 'its caller failed' : undefined;
}

/** Returns the wei that a trace moved, by the rules for `minValue` in docs/guides/address-history.md. */
export const valueMoved = (trace: Trace, isUndone = false): bigint =>
  whyNotMoved(trace, isUndone) === undefined ? valueIn(trace) : 0n;

/** What a trace did, in a few words: `transfer`, `0xa9059cbb` (the selector), `create2`. */
export interface Label {
  readonly text: string;
  /** True if the text is the name of a function, but only its selector is known to be equal. */
  readonly isUnverified: boolean;
}

/** Returns the label of a trace. `isUndone`: a frame above this one failed. */
export function labelOf(trace: Trace, decoder: Decoder | undefined, isUndone = false): Label {
  if (trace.type !== 'call') return { text: wordOf(trace), isUnverified: false };
  const { to, input, callType } = trace.action;
  const prefix = callType === 'call' ? '' : `${callType} `;
  if (input.length < SELECTOR_CHARACTERS) {
    const isTransfer = input === '0x' && valueMoved(trace, isUndone) > 0n;
    return { text: isTransfer ? 'transfer' : prefix.trim() || 'call', isUnverified: false };
  }
  const selector = input.slice(0, SELECTOR_CHARACTERS);
  const names = decoder?.callNames(to, input) ?? [];
  const name = [...new Set(names.map((one) => one.name))].join(' or ') || selector;
  return { text: prefix + name, isUnverified: names.some(({ isVerified }) => !isVerified) };
}

function wordOf(trace: Exclude<Trace, { type: 'call' }>): string {
  if (trace.type === 'create') return trace.action.creationMethod ?? 'create';
  return trace.type === 'suicide' ? 'self-destruct' : `${trace.action.rewardType} reward`;
}

export function gasUsedOf(trace: Trace): bigint | undefined {
  return trace.result === null || !('gasUsed' in trace.result) ? undefined : BigInt(trace.result.gasUsed);
}

/** Returns the error of a trace with its revert reason, if any; undefined if the trace did not fail. */
export function failureOfTrace(trace: Trace): string | undefined {
  const error = 'error' in trace ? trace.error : undefined;
  if (error === undefined) return undefined;
  const output = trace.result !== null && 'output' in trace.result ? trace.result.output : undefined;
  const reason = revertReason(output);
  return reason === undefined ? error : `${error}: ${reason}`;
}

export function dataOf(trace: Trace): {
  readonly input: string | undefined;
  readonly output: string | undefined;
} {
  if (trace.type === 'call') return { input: trace.action.input, output: trace.result?.output };
  if (trace.type !== 'create') return { input: undefined, output: undefined };
  const output =
    trace.result === null ? undefined : 'code' in trace.result ? trace.result.code : trace.result.output;
  return { input: trace.action.init, output };
}
