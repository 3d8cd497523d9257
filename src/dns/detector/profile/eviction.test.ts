import { describe, expect, it } from 'vitest';
import { type Entry, writeEntry } from './entry.ts';
import { findEvictionSlot, isOverShare, PROVEN_TENURE, type ProfileParts } from './eviction.ts';
import { NameTable } from './nameTable.ts';
import { ZoneDays } from './zoneDays.ts';

const CAPACITY = 16;
const TODAY = 100;
const ZONE = 1;
const OTHER_ZONE = 2;
const LEARNED = { high: 0, zone: ZONE, seed: undefined };

/** Returns a full table whose names, in the order of their slots, have these entries. */
function full(entries: readonly Partial<Entry>[]): ProfileParts {
  const table = new NameTable(entries.length);
  const days = new ZoneDays(4);
  const counts = new Uint32Array(4);
  for (const zone of [ZONE, OTHER_ZONE]) days.restore(zone, [TODAY, 0]);
  for (const [n, entry] of entries.entries()) {
    const complete = { types: 1, day: TODAY, seeded: false, tenure: 0, zone: ZONE, ...entry };
    writeEntry(table, table.insert(0, n + 1), complete);
    counts[complete.zone] = (counts[complete.zone] ?? 0) + 1;
  }
  return { table, days, counts };
}

describe('a new learned name', () => {
  it('evicts the name with answers on the fewest days, and of those the one with the oldest answer', () => {
    const names = [
      { tenure: 1, day: TODAY - 9 },
      { tenure: 0, day: TODAY - 1 },
      { tenure: 0, day: TODAY - 3 },
      { tenure: 1, day: TODAY },
    ];
    expect(findEvictionSlot(full(names), LEARNED)).toBe(2);
    expect(findEvictionSlot(full(names.toReversed()), LEARNED)).toBe(1);
    expect(findEvictionSlot(full([names[0] ?? {}, names[3] ?? {}]), LEARNED)).toBe(0);
    expect(findEvictionSlot(full([names[3] ?? {}, names[0] ?? {}]), LEARNED)).toBe(1);
  });

  it('evicts the oldest answer also after the count of days has passed its maximum', () => {
    const parts = full([{ day: 2 }, { day: 127 }, { day: 1 }]);
    parts.days.restore(ZONE, [128 + 3, 0]);
    expect(findEvictionSlot(parts, LEARNED)).toBe(1);
  });

  it('evicts no seeded name, and none with answers on three days', () => {
    const names = [{ seeded: true }, { tenure: PROVEN_TENURE }];
    expect(findEvictionSlot(full(names), LEARNED)).toBe(-1);
    expect(findEvictionSlot(full([...names, { tenure: PROVEN_TENURE - 1 }]), LEARNED)).toBe(2);
  });

  it('examines eight slots', () => {
    const proven = Array(7).fill({ tenure: PROVEN_TENURE });
    expect(findEvictionSlot(full([...proven, {}]), LEARNED)).toBe(7);
    expect(findEvictionSlot(full([...proven, { tenure: PROVEN_TENURE }, {}]), LEARNED)).toBe(-1);
  });

  it('begins at the slot of its hash, and continues at the first slot after the last', () => {
    const parts = full(Array(CAPACITY).fill({}));
    expect(findEvictionSlot(parts, { ...LEARNED, high: 2 ** 31 })).toBe(Math.floor(parts.table.slots / 2));
    expect(findEvictionSlot(parts, { ...LEARNED, high: 2 ** 32 - 1 })).toBe(0);
  });

  it('of a zone with half of all names evicts only names of the same zone', () => {
    const half = [{ zone: OTHER_ZONE, day: TODAY - 9 }, {}, { zone: OTHER_ZONE }, {}];
    expect(isOverShare(full(half), ZONE)).toBe(true);
    expect(findEvictionSlot(full(half), LEARNED)).toBe(1);
    const less = [{ zone: OTHER_ZONE, day: TODAY - 9 }, {}, { zone: OTHER_ZONE }];
    expect(isOverShare(full(less), ZONE)).toBe(false);
    expect(findEvictionSlot(full(less), LEARNED)).toBe(0);
    expect(isOverShare(full([{}, {}]), ZONE)).toBe(false);
  });
});

describe('a new seeded name', () => {
  const seeded = (fairShare: number, generation = 1) => ({ ...LEARNED, seed: { fairShare, generation } });

  it('evicts learned names first: any if its zone is below its share, otherwise none with answers on three days', () => {
    const names = [{ seeded: true, tenure: 0 }, { tenure: 7 }];
    expect(findEvictionSlot(full(names), seeded(3))).toBe(1);
    expect(findEvictionSlot(full([{ tenure: PROVEN_TENURE }]), seeded(1))).toBe(-1);
    expect(findEvictionSlot(full([{ tenure: PROVEN_TENURE - 1 }]), seeded(1))).toBe(0);
  });

  it('evicts a name of the same zone from another generation', () => {
    expect(findEvictionSlot(full([{ seeded: true, tenure: 1 }]), seeded(1))).toBe(-1);
    expect(findEvictionSlot(full([{ seeded: true, tenure: 0 }]), seeded(1))).toBe(0);
  });

  it('evicts a name of another zone if that is above its share, and its own zone is below', () => {
    const other = { seeded: true, zone: OTHER_ZONE, tenure: 1 };
    expect(findEvictionSlot(full([other, other]), seeded(1))).toBe(0);
    expect(findEvictionSlot(full([other, other]), seeded(2))).toBe(-1);
    expect(findEvictionSlot(full([other, other, { seeded: true, tenure: 1 }]), seeded(1))).toBe(-1);
  });

  it('examines 64 slots', () => {
    const kept = { seeded: true, tenure: 1 };
    expect(findEvictionSlot(full([...Array(63).fill(kept), {}]), seeded(1))).toBe(63);
    expect(findEvictionSlot(full([...Array(64).fill(kept), {}]), seeded(1))).toBe(-1);
  });
});
