/**
 * The names that are really asked for, with the query types they are asked with: answered NOERROR or NODATA and
 * asked for again, or listed in the zone itself. Exact, aged, bounded, at most 24 bytes a name at a million names.
 */
import { typeBit } from '../../protocol/index.ts';
import { Candidates } from './candidates.ts';
import { hasType, noteQuery } from './nameNotes.ts';
import { NameTable } from './nameTable.ts';
import { RATE_WINDOW_MS } from './usualRate.ts';

export interface ProfileOptions {
  /** The most names it keeps; the longest unasked give way. */
  readonly maxNames: number;
  /** A name not answered for this long is forgotten. */
  readonly windowMs: number;
}

/** 24 MB. A million names is a large hosting provider's busy day. */
export const DEFAULT_MAX_NAMES = 1_000_000;
/** The period the original looks at: a week holds every weekly habit. */
const DEFAULT_WINDOW_MS = 7 * 24 * 3_600_000;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const HOURS_PER_DAY = 24;
/** First note: types (16 bits) | hour of the last answer (12 bits) | seeded (1 bit). */
const HOUR_MASK = 0xfff;
const SEEDED = 1;
/** The hour is kept modulo 4096 (170 days): a longer window could not tell old from new. */
const MAX_WINDOW_MS = 90 * 24 * HOUR_MS;
/** Windows repeat after 42 minutes; a whole round of {@link Profile.sweep} before that clears what is stale. */
const SWEEPS_PER_ROUND = 1200;
/** How many neighbours are looked at for the one that gives way in a full table. */
const EVICTION_SAMPLE = 8;

/** A name as it is stored and seeded: its hash and notes, to be put back as they were. */
export type ProfileEntry = readonly [high: number, low: number, firstNote: number, secondNote: number];

export class Profile {
  readonly options: ProfileOptions;
  readonly #table: NameTable;
  readonly #candidates = new Candidates();
  #swept = 0;

  /** The names lie in `table`, which is empty and has room for `maxNames`; in one of its own where left out. */
  constructor(options: Partial<ProfileOptions> = {}, table?: NameTable) {
    this.options = {
      maxNames: options.maxNames ?? DEFAULT_MAX_NAMES,
      windowMs: Math.min(options.windowMs ?? DEFAULT_WINDOW_MS, MAX_WINDOW_MS),
    };
    this.#table = table ?? new NameTable(this.options.maxNames);
  }

  /** Number of known names. */
  get size(): number {
    return this.#table.size;
  }

  /** Memory in bytes, the candidates included. It does not change with what is learned. */
  get bytes(): number {
    return this.#table.bytes + this.#candidates.bytes;
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
    return this.#table.firstNote(place) >>> 16;
  }

  /** Counts a query for the name at `place`; true when it is beyond the name's usual rate. */
  noteQuery(place: number, nowMs: number, learning: boolean): boolean {
    return noteQuery(this.#table, place, nowMs, learning);
  }

  /**
   * Learns from an answer NOERROR or NODATA. Returns `known` when name and type were known, `learned` when they
   * became so, and what the candidates say otherwise: `first` or `repeated`.
   */
  learn(
    high: number,
    low: number,
    type: number,
    network: number,
    nowMs: number,
  ): 'known' | 'learned' | 'first' | 'repeated' {
    const bit = typeBit(type);
    const place = this.#table.find(high, low);
    if (place >= 0) this.#touch(place, nowMs);
    if (place >= 0 && (this.types(place) & bit) !== 0) return 'known';
    // A candidate is a pair of name and type: the type bit spreads the pair over the sets.
    const pairHigh = (high ^ Math.imul(bit, 0x9e3779b1)) >>> 0;
    const seen = this.#candidates.note(pairHigh, low, network, Math.floor(nowMs / MINUTE_MS));
    if (seen !== 'again') return seen;
    this.#add(high, low, bit, nowMs, 0);
    return 'learned';
  }

  /** Makes a name known that a zone lists, with the types (as bits) it is listed with. False when there is no room. */
  seed(high: number, low: number, types: number, nowMs: number): boolean {
    return this.#add(high, low, types, nowMs, SEEDED);
  }

  /** Makes a name known that an earlier run knew, with its types (as bits), as if it was answered now. False when there is no room. */
  readmit(high: number, low: number, types: number, nowMs: number): boolean {
    return this.#add(high, low, types, nowMs, 0);
  }

  /** Forgets what is out of the window, a slice of the table a call: call it every second. */
  sweep(nowMs: number): void {
    const table = this.#table;
    const end = Math.min(table.slots, this.#swept + Math.ceil(table.slots / SWEEPS_PER_ROUND));
    const nowHour = hourOf(nowMs);
    const windowHours = Math.ceil(this.options.windowMs / HOUR_MS);
    const window = Math.floor(nowMs / RATE_WINDOW_MS) & 0xff;
    for (let slot = this.#swept; slot < end; slot++) {
      while (table.isUsed(slot) && ageInHours(nowHour, table.firstNote(slot)) > windowHours)
        table.delete(slot);
      const note = table.secondNote(slot);
      // Another thread that is faster has counted a query, and then it is not stale.
      if (note !== 0 && (note & 0xff) !== window)
        table.replaceSecondNote(slot, note, (note & 0xff00) | window);
    }
    this.#swept = end >= table.slots ? 0 : end;
  }

  /** Every known name, to be stored. Names learned or forgotten meanwhile may or may not be among them. */
  *entries(): Generator<ProfileEntry> {
    const table = this.#table;
    for (let slot = 0; slot < table.slots; slot++)
      if (table.isUsed(slot))
        yield [table.high(slot), table.low(slot), table.firstNote(slot), table.secondNote(slot) & 0xff00];
  }

  /** Puts back a stored name; does nothing for one that is known already, out of the window or without room. */
  restore([high, low, firstNote, secondNote]: ProfileEntry, nowMs: number): void {
    const windowHours = Math.ceil(this.options.windowMs / HOUR_MS);
    if ((high === 0 && low === 0) || this.#table.find(high, low) >= 0) return;
    if (ageInHours(hourOf(nowMs), firstNote) > windowHours) return;
    const slot = this.#table.insert(high, low);
    if (slot < 0) return;
    this.#table.setFirstNote(slot, firstNote);
    this.#table.replaceSecondNote(slot, 0, secondNote & 0xff00);
  }

  #add(high: number, low: number, types: number, nowMs: number, flag: number): boolean {
    const table = this.#table;
    let slot = table.find(high, low);
    if (slot < 0) {
      if (table.size >= table.capacity) this.#evictNear(high, nowMs);
      slot = table.insert(high, low);
    }
    if (slot < 0) return false;
    const note = table.firstNote(slot);
    const allTypes = (note & 0xffff0000) | (types << 16);
    table.setFirstNote(slot, (allTypes | (hourOf(nowMs) << 4) | (note & SEEDED) | flag) >>> 0);
    return true;
  }

  /** A new answer for a known name: it is younger, and for each day it was silent its usual rate is one step lower. */
  #touch(place: number, nowMs: number): void {
    const note = this.#table.firstNote(place);
    const hour = hourOf(nowMs);
    const age = ageInHours(hour, note);
    if (age === 0) return;
    this.#table.setFirstNote(place, ((note & 0xffff000f) | (hour << 4)) >>> 0);
    const daysPassed = Math.floor((age + (((hour - age) & HOUR_MASK) % HOURS_PER_DAY)) / HOURS_PER_DAY);
    if (daysPassed <= 0) return;
    for (let faded = false; !faded; ) {
      const rates = this.#table.secondNote(place);
      const usual = Math.max(0, ((rates >>> 8) & 0xff) - daysPassed);
      faded = this.#table.replaceSecondNote(place, rates, ((rates & 0xffff00ff) | (usual << 8)) >>> 0);
    }
  }

  /** Takes out the longest unasked of a few neighbours, seeded ones last of all: not at all. */
  #evictNear(high: number, nowMs: number): void {
    const table = this.#table;
    const nowHour = hourOf(nowMs);
    let slot = Math.floor((high / 2 ** 32) * table.slots);
    let oldest = -1;
    let oldestAge = -1;
    for (let looked = 0; looked < EVICTION_SAMPLE; looked++, slot = (slot + 1) % table.slots) {
      if (!table.isUsed(slot) || (table.firstNote(slot) & SEEDED) !== 0) continue;
      const age = ageInHours(nowHour, table.firstNote(slot));
      if (age > oldestAge) {
        oldest = slot;
        oldestAge = age;
      }
    }
    if (oldest >= 0) table.delete(oldest);
  }
}

const hourOf = (nowMs: number): number => Math.floor(nowMs / HOUR_MS) & HOUR_MASK;

/** Hours since the last answer; a clock set back by less than half the range counts as none. */
const ageInHours = (nowHour: number, firstNote: number): number => {
  const age = (nowHour - (firstNote >>> 4)) & HOUR_MASK;
  return age > HOUR_MASK / 2 ? 0 : age;
};
