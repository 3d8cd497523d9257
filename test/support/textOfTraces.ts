import type { Trace } from '../../src/ethereum/traces/index.ts';

const texts = new WeakMap<Trace, string>();

/** Returns `JSON.stringify` of traces. The text of each trace is cached, because it is expected in many responses. */
export const stringifyTraces = (traces: readonly Trace[]): string => `[${traces.map(textOf).join(',')}]`;

function textOf(trace: Trace): string {
  const text = texts.get(trace) ?? JSON.stringify(trace);
  texts.set(trace, text);
  return text;
}
