import type { Micros } from '../../index.ts';

/** What a listener has received: the time of its newest change, and the time from which it needs ended attacks. */
export interface Position {
  readonly change: Micros;
  readonly atMs: number;
}

const id = /^([0-9a-z]{1,11})-([0-9a-z]{1,9})$/;
const RADIX = 36;

export const formatPosition = ({ change, atMs }: Position): string =>
  `${change.toString(RADIX)}-${atMs.toString(RADIX)}`;

/** Parses the id of an event, which is a position. Returns undefined if it is invalid. */
export function parsePosition(text: string): Position | undefined {
  const [, change, at] = id.exec(text) ?? [];
  if (change === undefined || at === undefined) return undefined;
  const position = { change: Number.parseInt(change, RADIX), atMs: Number.parseInt(at, RADIX) };
  return Math.max(position.change, position.atMs) <= Number.MAX_SAFE_INTEGER ? position : undefined;
}
