import type { Trace } from '../../src/ethereum/traces/index.ts';

const texts = new WeakMap<Trace, string>();

/** `JSON.stringify` of traces. Each is written once, however many answers it is expected in. */
export const textOfTraces = (traces: readonly Trace[]): string => `[${traces.map(textOf).join(',')}]`;

function textOf(trace: Trace): string {
  const text = texts.get(trace) ?? JSON.stringify(trace);
  texts.set(trace, text);
  return text;
}
