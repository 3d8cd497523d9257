import type { Trace } from '../../../traces/index.ts';

/**
 * Returns true if two lists have the same frames. Not compared: the gas of root frames and the results of failed
 * frames, which trace methods report differently, and members that some nodes lack.
 */
export const haveSameFrames = (some: readonly Trace[], others: readonly Trace[]): boolean =>
  some.length === others.length &&
  some.every((trace, i) => {
    const other = others[i];
    return other !== undefined && essenceOf(trace) === essenceOf(other);
  });

function essenceOf(trace: Trace): string {
  const { type, traceAddress, subtraces, action, result } = trace;
  const ignored = traceAddress.length === 0 ? ['creationMethod', 'gas', 'gasUsed'] : ['creationMethod'];
  const members = (object: object | null): unknown[] =>
    Object.entries(object ?? {}).filter(([name]) => !ignored.includes(name));
  const hasFailed = 'error' in trace && trace.error !== undefined;
  return JSON.stringify([
    type,
    traceAddress,
    subtraces,
    hasFailed,
    members(action),
    hasFailed || members(result),
  ]);
}
