import { beforeEach, expect, it } from 'vitest';
import { UnknownHours } from './unknownHours.ts';

const HOUR_MS = 3_600_000;

interface Hour {
  readonly share: number;
  readonly queries?: number;
  readonly isExcluded?: boolean;
}

let hours: UnknownHours;
let next: number;
beforeEach(() => {
  hours = new UnknownHours();
  next = 0;
});

/** Adds hours with a share of unknown names. Returns the status after the last of them. */
function statusAfter(count: number, { share, queries = 1000, isExcluded = false }: Hour): boolean {
  for (let i = 0; i < count; i++)
    hours.add({ queries, unknown: share * queries }, isExcluded, next++ * HOUR_MS);
  hours.add({ queries: 0, unknown: 0 }, false, next * HOUR_MS);
  return hours.isMostlyUnknown;
}

it('a zone is mostly unknown after 24 hours with half unknown names, and no longer after 24 with fewer than 30 %', () => {
  expect(statusAfter(23, { share: 0.5 })).toBe(false);
  expect(statusAfter(1, { share: 0.5 })).toBe(true);
  expect(statusAfter(30, { share: 0.3 })).toBe(true);
  expect(statusAfter(23, { share: 0.29 })).toBe(true);
  expect(statusAfter(1, { share: 0.29 })).toBe(false);
});

it('an hour with a smaller share, or during an attack, starts the count again; an hour with few queries does not', () => {
  statusAfter(23, { share: 0.5 });
  expect(statusAfter(1, { share: 0.49 })).toBe(false);
  statusAfter(23, { share: 0.5 });
  expect(statusAfter(1, { share: 1, isExcluded: true })).toBe(false);
  statusAfter(23, { share: 0.5 });
  expect(statusAfter(1, { share: 0, queries: 999 })).toBe(false);
  expect(statusAfter(1, { share: 0.5 })).toBe(true);
});
