import type { Micros } from '../../index.ts';

/** Up to where a listener was told: the newest change, and the time, from when on attacks that ended are told. */
export interface Position {
  readonly change: Micros;
  readonly atMs: number;
}

const id = /^([0-9a-z]{1,11})-([0-9a-z]{1,9})$/;
const RADIX = 36;

/** As the id of a message. */
export const writePosition = ({ change, atMs }: Position): string =>
  `${change.toString(RADIX)}-${atMs.toString(RADIX)}`;

/** Undefined where it is no id of ours. */
export function readPosition(text: string): Position | undefined {
  const [, change, at] = id.exec(text) ?? [];
  if (change === undefined || at === undefined) return undefined;
  const position = { change: Number.parseInt(change, RADIX), atMs: Number.parseInt(at, RADIX) };
  return Math.max(position.change, position.atMs) <= Number.MAX_SAFE_INTEGER ? position : undefined;
}
