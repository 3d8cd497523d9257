/** What a trace is, in words and in its parts. */
import { revertReason } from './revertReason.ts';
import type { Trace } from './types.ts';

const SELECTOR_CHARACTERS = 10;

export const keyOfTrace = ({ blockHash, transactionHash, traceAddress, type, action }: Trace): string =>
  [
    blockHash,
    transactionHash ?? ('author' in action ? action.author : ''),
    traceAddress.join('.'),
    type,
  ].join(' ');

/** Who moved something, and to whom; a block's reward comes from nobody. */
export function endsOf(trace: Trace): { readonly from: string | undefined; readonly to: string | undefined } {
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

/** As it stands in the frame. */
export function movedBy(trace: Trace): bigint {
  return BigInt(trace.type === 'suicide' ? trace.action.balance : trace.action.value);
}

/** `transfer`, `0xa9059cbb`, `create2`: what is called, as far as the trace says it. */
export function calledOf(trace: Trace): string {
  switch (trace.type) {
    case 'call': {
      const called =
        trace.action.input.length < SELECTOR_CHARACTERS
          ? 'transfer'
          : trace.action.input.slice(0, SELECTOR_CHARACTERS);
      return trace.action.callType === 'call'
        ? called
        : `${trace.action.callType} ${called === 'transfer' ? '' : called}`.trim();
    }
    case 'create':
      return trace.action.creationMethod ?? 'create';
    case 'suicide':
      return 'self-destruct';
    case 'reward':
      return `${trace.action.rewardType} reward`;
  }
}

export function gasUsedOf(trace: Trace): bigint | undefined {
  return trace.result === null || !('gasUsed' in trace.result) ? undefined : BigInt(trace.result.gasUsed);
}

/** Why it failed; undefined where it did not. */
export function failureOfTrace(trace: Trace): string | undefined {
  const error = 'error' in trace ? trace.error : undefined;
  if (error === undefined) return undefined;
  const output = trace.result !== null && 'output' in trace.result ? trace.result.output : undefined;
  const reason = revertReason(output);
  return reason === undefined ? error : `${error}: ${reason}`;
}

/** What went in and came out, as hex. */
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
