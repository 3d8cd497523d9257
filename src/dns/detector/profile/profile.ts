/**
 * The names that are really asked for, with the query types they are asked with: answered and asked for again, or listed in
 * the zone itself. Exact, aged, bounded, at most 24 bytes a name at a million names.
 */
import { typeBit } from '../../protocol/index.ts';
import type { AskedName } from '../learnAnswer.ts';
import { Candidates } from './candidates.ts';
import {
  DAY_MASK,
  dayAt,
  type Entry,
  isSeeded,
  readEntry,
  tenureAt,
  typesAt,
  writeEntry,
  zoneAt,
} from './entry.ts';
import { isOverShare, type Newcomer, PROVEN_TENURE, type ProfileParts, slotToGiveWay } from './giveWay.ts';
import { hasType, noteQuery } from './nameNotes.ts';
import { NameTable } from './nameTable.ts';
import { ProvingNames } from './provingNames.ts';
import { RATE_WINDOW_MS } from './usualRate.ts';
import { calendarDay, ZoneDays } from './zoneDays.ts';

export interface ProfileOptions {
  /** The most names it keeps. */
  readonly maxNames: number;
  /** A learned name not answered for this long is forgotten, in days on which its zone was answered. */
  readonly windowMs: number;
}

/** 24 MB. A million names is a large hosting provider's busy day. */
export const DEFAULT_MAX_NAMES = 1_000_000;
const DAY_MS = 24 * 3_600_000;
/** The period the original looks at: a week holds every weekly habit. */
const DEFAULT_WINDOW_MS = 7 * DAY_MS;
const MINUTE_MS = 60_000;
/** Days are kept modulo 128: a longer window could not tell old from new. */
const MAX_WINDOW_MS = 90 * DAY_MS;
/** Windows of counting repeat after 42 minutes; a whole round of {@link Profile.sweep} before that clears what is stale. */
const SWEEPS_PER_ROUND = 1200;
/** Numbers of zones fit the bits that a name has for them. */
const ZONE_NUMBERS = 1 << 13;

/** A name as it is stored: its hash and notes, to be put back as they were. The mark is in the second note. */
export type ProfileEntry = readonly [high: number, low: number, firstNote: number, secondNote: number];
const MARK_SHIFT = 16;
const USUAL_RATE = 0xff00;

/** Whether a zone still has a name that this generation of its seed listed. */
export type SeedHolds = (zone: number, generation: number) => boolean;
const NEVER: SeedHolds = () => false;

type HashedName = Omit<AskedName, 'type'>;

/** Which zone lists a name, by its number, and in which generation of its seed. */
export interface NameSeed {
  readonly zone: number;
  readonly generation: number;
}
const NO_SEED: NameSeed = { zone: 0, generation: 0 };

/** What learning says of a name and type: known before, known from now on, or what the candidates say otherwise. */
export type Learning = 'known' | 'learned' | 'first' | 'repeated';

export class Profile {
  readonly options: ProfileOptions;
  /** The days of each zone, by which its names age. */
  readonly days = new ZoneDays(ZONE_NUMBERS);
  /** Zones that a seed may come of: each has a fair share of the profile. */
  seededZones = 1;
  /** Zones of which names that they list were not kept. */
  readonly incompleteZones = new Set<number>();
  readonly #table: NameTable;
  readonly #parts: ProfileParts;
  readonly #candidates = new Candidates();
  readonly #proving = new ProvingNames();
  #swept = 0;

  /** The names lie in `table`, which is empty and has room for `maxNames`; in one of its own where left out. */
  constructor(options: Partial<ProfileOptions> = {}, table?: NameTable) {
    this.options = {
      maxNames: options.maxNames ?? DEFAULT_MAX_NAMES,
      windowMs: Math.min(options.windowMs ?? DEFAULT_WINDOW_MS, MAX_WINDOW_MS),
    };
    this.#table = table ?? new NameTable(this.options.maxNames);
    this.#parts = { table: this.#table, days: this.days, counts: new Uint32Array(ZONE_NUMBERS) };
  }

  /** Number of known names. */
  get size(): number {
    return this.#table.size;
  }

  /** Number of known names in the zone with this number. */
  sizeOf(zone: number): number {
    return this.#parts.counts[zone] ?? 0;
  }

  /** Memory in bytes, the candidates included. It does not change with what is learned. */
  get bytes(): number {
    return this.#table.bytes + this.#candidates.bytes + this.#proving.bytes;
  }

  /** The place of a known name until the next change of the profile; -1 for an unknown one. */
  find(high: number, low: number): number {
    return this.#table.find(high, low);
  }

  /** Whether the name at `place` is known with this query type. */
  hasType(place: number, type: number): boolean {
    return hasType(this.#table, place, type);
  }

  /** The type bits of the name at `place`. */
  types(place: number): number {
    return typesAt(this.#table, place);
  }

  /** Counts a query for the name at `place`; true when it is beyond the name's usual rate. */
  noteQuery(place: number, nowMs: number, learning: boolean): boolean {
    return noteQuery(this.#table, place, nowMs, learning);
  }

  /** Notes an answer for the known name at `place`; whether it is known with this type, too. */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  touch(place: number, type: number, nowMs: number, zone: number, isProven = false): boolean {
    this.days.note(zone, nowMs);
    if (!isSeeded(this.#table, place)) this.#grow(place, zone, isProven);
    return hasType(this.#table, place, type);
  }

  /** Learns that a name of the zone with this number was answered; `isProven` where the asking network cannot be forged. */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  learn(asked: AskedName, network: number, nowMs: number, zone = 0, isProven = false): Learning {
    const { hashHigh, hashLow, type } = asked;
    const place = this.#table.find(hashHigh, hashLow);
    if (place >= 0 && this.touch(place, type, nowMs, zone, isProven)) return 'known';
    const bit = typeBit(type);
    this.days.note(zone, nowMs);
    const seen = this.#candidates.note(
      pairOf(hashHigh, bit),
      hashLow,
      network,
      Math.floor(nowMs / MINUTE_MS),
    );
    if (seen !== 'again') return seen;
    return this.#add(asked, bit, { zone, tenure: isProven ? 1 : 0 }) ? 'learned' : 'repeated';
  }

  /** As {@link learn}, in a zone under attack: what is known stays so, and what is asked for on three days becomes known. */
  keep(asked: AskedName, nowMs: number, zone = 0): Learning {
    const { hashHigh, hashLow, type } = asked;
    const place = this.#table.find(hashHigh, hashLow);
    if (place >= 0 && this.touch(place, type, nowMs, zone)) return 'known';
    const bit = typeBit(type);
    this.days.note(zone, nowMs);
    if (!this.#proving.note(pairOf(hashHigh, bit), hashLow, calendarDay(nowMs))) return 'repeated';
    return this.#add(asked, bit, { zone, tenure: PROVEN_TENURE }) ? 'learned' : 'repeated';
  }

  /**
   * Makes a name known that a zone lists, with the types (as bits) it is listed with; it stays as long as the zone has it.
   * False when there is no room.
   */
  seed({ hashHigh: high, hashLow: low }: HashedName, types: number, seed = NO_SEED): boolean {
    const { zone, generation } = seed;
    const table = this.#table;
    let slot = table.find(high, low);
    const before = slot < 0 ? undefined : zoneAt(table, slot);
    const fairShare = table.capacity / this.seededZones;
    if (slot < 0) slot = this.#insert({ high, zone, seed: { fairShare, generation } }, low);
    if (slot < 0) {
      this.incompleteZones.add(zone);
      return false;
    }
    this.#count(before, zone);
    const allTypes = typesAt(table, slot) | types;
    const day = this.days.of(zone);
    writeEntry(table, slot, { types: allTypes, day, seeded: true, tenure: generation, zone });
    return true;
  }

  /** Makes a name known that an earlier run knew, with its types (as bits), as if it was answered now. False when there is no room. */
  readmit(name: HashedName, types: number): boolean {
    return this.#add(name, types, { zone: 0, tenure: 1 });
  }

  /**
   * Forgets what is out of the window, a slice of the table a call: call it every second. A name whose seed does not hold any
   * more counts as learned from then on.
   */
  sweep(nowMs: number, seedHolds: SeedHolds = NEVER): void {
    const table = this.#table;
    const end = Math.min(table.slots, this.#swept + Math.ceil(table.slots / SWEEPS_PER_ROUND));
    const window = Math.floor(nowMs / RATE_WINDOW_MS) & 0xff;
    for (let slot = this.#swept; slot < end; slot++) {
      while (table.isUsed(slot) && this.#isForgotten(slot, seedHolds)) this.#delete(slot);
      const note = table.secondNote(slot);
      // Another thread that is faster has counted a query, and then it is not stale.
      if (note !== 0 && (note & 0xff) !== window)
        table.replaceSecondNote(slot, note, (note & USUAL_RATE) | window);
    }
    this.#swept = end >= table.slots ? 0 : end;
  }

  /** Every known name, to be stored. Names learned or forgotten meanwhile may or may not be among them. */
  *entries(): Generator<ProfileEntry> {
    const table = this.#table;
    for (let slot = 0; slot < table.slots; slot++)
      if (table.isUsed(slot)) {
        const second = (table.mark(slot) << MARK_SHIFT) | (table.secondNote(slot) & USUAL_RATE);
        yield [table.high(slot), table.low(slot), table.firstNote(slot), second];
      }
  }

  /** Puts back a stored name; does nothing for one that is known already or without room. */
  restore([high, low, firstNote, secondNote]: ProfileEntry): void {
    const table = this.#table;
    if ((high === 0 && low === 0) || table.find(high, low) >= 0) return;
    const slot = table.insert(high, low);
    if (slot < 0) return;
    table.setMark(slot, (secondNote >>> MARK_SHIFT) & 0xff);
    table.setFirstNote(slot, firstNote);
    table.replaceSecondNote(slot, 0, secondNote & USUAL_RATE);
    this.#count(undefined, zoneAt(table, slot));
  }

  #add(
    { hashHigh: high, hashLow: low }: HashedName,
    types: number,
    { zone, tenure }: Pick<Entry, 'zone' | 'tenure'>,
  ): boolean {
    const table = this.#table;
    const known = table.find(high, low);
    if (known >= 0) {
      const entry = readEntry(table, known);
      writeEntry(table, known, { ...entry, types: entry.types | types });
      return true;
    }
    const slot = this.#insert({ high, zone, seed: undefined }, low);
    if (slot < 0) return false;
    writeEntry(table, slot, { types, day: this.days.of(zone), seeded: false, tenure, zone });
    this.#count(undefined, zone);
    return true;
  }

  /** A slot for a name, from which another one may have given way; -1 where there is none. */
  #insert(newcomer: Newcomer, low: number): number {
    const table = this.#table;
    const mustShare = newcomer.seed === undefined && isOverShare(this.#parts, newcomer.zone);
    if (table.size >= table.capacity || mustShare) {
      const slot = slotToGiveWay(this.#parts, newcomer);
      if (slot < 0) return -1;
      const loser = zoneAt(table, slot);
      if (isSeeded(table, slot) && loser !== newcomer.zone) this.incompleteZones.add(loser);
      this.#delete(slot);
    }
    return table.insert(newcomer.high, low);
  }

  #delete(slot: number): void {
    this.#count(zoneAt(this.#table, slot), undefined);
    this.#table.delete(slot);
  }

  #count(from: number | undefined, to: number | undefined): void {
    const { counts } = this.#parts;
    if (from !== undefined) counts[from] = Math.max(0, (counts[from] ?? 0) - 1);
    if (to !== undefined) counts[to] = (counts[to] ?? 0) + 1;
  }

  /** A new answer for a known name: it is younger, known on a day more, and for each day it was silent its usual rate is one step lower. */
  #grow(place: number, zone: number, isProven: boolean): void {
    const table = this.#table;
    const day = this.days.of(zone);
    const moved = zoneAt(table, place) !== zone;
    const silentDays = moved ? 0 : (day - dayAt(table, place)) & DAY_MASK;
    const proves = isProven && tenureAt(table, place) === 0;
    if (silentDays === 0 && !moved && !proves) return;
    const entry = readEntry(table, place);
    if (moved) this.#count(entry.zone, zone);
    const grows = proves || (silentDays > 0 && isTimeToGrow(entry.tenure, table.low(place) ^ day));
    const tenure = Math.min(7, entry.tenure + (grows ? 1 : 0));
    writeEntry(table, place, { ...entry, zone, day: day & DAY_MASK, tenure });
    for (let faded = silentDays === 0; !faded; ) {
      const rates = table.secondNote(place);
      const usual = Math.max(0, ((rates >>> 8) & 0xff) - silentDays);
      faded = table.replaceSecondNote(place, rates, ((rates & 0xffff00ff) | (usual << 8)) >>> 0);
    }
  }

  #isForgotten(slot: number, seedHolds: SeedHolds): boolean {
    const table = this.#table;
    if (isSeeded(table, slot)) {
      const { types, zone, tenure } = readEntry(table, slot);
      if (seedHolds(zone, tenure)) return false;
      const day = this.days.of(zone);
      writeEntry(table, slot, { types, zone, day, seeded: false, tenure: PROVEN_TENURE });
      return false;
    }
    const silentDays = (this.days.of(zoneAt(table, slot)) - dayAt(table, slot)) & DAY_MASK;
    return silentDays > this.options.windowMs / DAY_MS;
  }
}

/** A candidate is a pair of name and type: the type's bit spreads the pairs of a name over the memory. */
const pairOf = (high: number, bit: number): number => (high ^ Math.imul(bit, 0x9e3779b1)) >>> 0;

/** The second and third day count as they come, then each further step takes twice as many days, on average. */
function isTimeToGrow(tenure: number, draw: number): boolean {
  if (tenure < PROVEN_TENURE) return true;
  return (Math.imul(draw, 0x9e3779b1) >>> 20) % 2 ** (tenure - 1) === 0;
}
