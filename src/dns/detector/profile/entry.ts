/**
 * What stands beside a known name. First note: types (16 bits) | day of the last answer (7) | seeded (1) | tenure, or the
 * generation of a seed (3) | the low bits of its zone's number (5). The high bits of that are the name's mark.
 * The second note is for counting queries (nameNotes.ts).
 */
import type { NameTable } from './nameTable.ts';

const TYPES_SHIFT = 16;
const DAY_SHIFT = 9;
/** Days are kept modulo 128: a window of 90 days and a day of delay are told from new. */
export const DAY_MASK = 0x7f;
const SEEDED = 1 << 8;
const TENURE_SHIFT = 5;
const TENURE_MASK = 7;

/** The generation of a seed behind this one; it stands where the tenure of a learned name does. */
export const nextGeneration = (generation: number): number => (generation + 1) & TENURE_MASK;
const ZONE_BITS = 5;
const ZONE_MASK = 0x1f;

export interface Entry {
  /** Query types, as bits. */
  readonly types: number;
  /** The day of the last answer, as its zone counts days. */
  readonly day: number;
  /** Whether its zone lists it. */
  readonly seeded: boolean;
  /** On how many days it was asked for, as a logarithm; the generation of the seed for a seeded name. */
  readonly tenure: number;
  /** The number of its zone. */
  readonly zone: number;
}

export const typesAt = (table: NameTable, slot: number): number => table.firstNote(slot) >>> TYPES_SHIFT;

export const isSeeded = (table: NameTable, slot: number): boolean => (table.firstNote(slot) & SEEDED) !== 0;

export const dayAt = (table: NameTable, slot: number): number =>
  (table.firstNote(slot) >>> DAY_SHIFT) & DAY_MASK;

export const tenureAt = (table: NameTable, slot: number): number =>
  (table.firstNote(slot) >>> TENURE_SHIFT) & TENURE_MASK;

export const zoneAt = (table: NameTable, slot: number): number =>
  (table.mark(slot) << ZONE_BITS) | (table.firstNote(slot) & ZONE_MASK);

export const readEntry = (table: NameTable, slot: number): Entry => ({
  types: typesAt(table, slot),
  day: dayAt(table, slot),
  seeded: isSeeded(table, slot),
  tenure: tenureAt(table, slot),
  zone: zoneAt(table, slot),
});

/** Readers in other threads look at the types alone. */
export function writeEntry(table: NameTable, slot: number, entry: Entry): void {
  const { types, day, seeded, tenure, zone } = entry;
  table.setMark(slot, zone >>> ZONE_BITS);
  const note =
    (types << TYPES_SHIFT) |
    ((day & DAY_MASK) << DAY_SHIFT) |
    (seeded ? SEEDED : 0) |
    ((tenure & TENURE_MASK) << TENURE_SHIFT) |
    (zone & ZONE_MASK);
  table.setFirstNote(slot, note >>> 0);
}
