/**
 * Layout of the first note (a 32-bit word) of a known name, from the highest bit:
 * - query types (16 bits);
 * - day of the last answer (7 bits);
 * - whether the name is seeded (1 bit);
 * - tenure, or the generation of a seeded name (3 bits);
 * - low bits of the zone number (5 bits). The mark of the name's slot stores the high bits.
 * The tenure is the number of days with answers for the name, on a logarithmic scale. The second note counts queries
 * (nameNotes.ts).
 */
import type { NameTable } from './nameTable.ts';

const TYPES_SHIFT = 16;
const DAY_SHIFT = 9;
/** Days are stored modulo 128, enough for a window of 90 days. */
export const DAY_MASK = 0x7f;
const SEEDED = 1 << 8;
const TENURE_SHIFT = 5;
const TENURE_MASK = 7;

/**
 * Returns the generation after this one. The generation of a zone is the number of its seedings, modulo 8. A seeded
 * name stores the generation in which it was added, instead of a tenure.
 */
export const nextGeneration = (generation: number): number => (generation + 1) & TENURE_MASK;
const ZONE_BITS = 5;
const ZONE_MASK = 0x1f;

export interface Entry {
  /** Query types for which the name is known, one bit per type. */
  readonly types: number;
  /** Day of the last answer for the name, modulo 128. Only days with answers from the name's zone are counted. */
  readonly day: number;
  /** Whether the name is seeded, that is, listed in its zone's data. */
  readonly seeded: boolean;
  /**
   * Number of days with answers for the name, on a logarithmic scale. For a seeded name, the generation in which the
   * name was added.
   */
  readonly tenure: number;
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

/** Writes the entry of a known name. No lock is needed, because other threads read only the entry's query types. */
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
