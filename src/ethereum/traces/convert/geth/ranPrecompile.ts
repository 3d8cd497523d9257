import type { CallTrace, Trace } from '../../index.ts';
import type { BlockRules } from '../chains/blockRules.ts';
import { REVERTED } from '../errorName.ts';
import { ZERO } from '../frame.ts';

/**
 * Returns whether a trace is a call without value that a precompiled contract executed, which Parity does not list.
 * These contracts never revert. If the rules are assumed, the chain may not have the contract. A call that used no gas
 * and returned nothing then counts as a call of an account without code.
 */
export function ranPrecompile(
  trace: Trace,
  { precompiles, isAssumed }: Pick<BlockRules, 'precompiles' | 'isAssumed'>,
): boolean {
  if (trace.type !== 'call' || trace.action.value !== ZERO || trace.error === REVERTED) return false;
  return precompiles.has(trace.action.to) && !(isAssumed && isIdle(trace));
}

const isIdle = ({ error, result }: CallTrace): boolean =>
  error === undefined && result?.gasUsed === ZERO && result.output === '0x';
