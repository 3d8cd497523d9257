/**
 * Names that clients use, with their query types: names that were answered repeatedly, and names that a zone lists.
 * Old names are deleted. Memory is bounded: at most 24 bytes per name at a million names.
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
import {
  findEvictionSlot,
  isOverShare,
  type Newcomer,
  PROVEN_TENURE,
  type ProfileParts,
} from './eviction.ts';
import { hasType, noteQuery } from './nameNotes.ts';
import { NameTable } from './nameTable.ts';
import { RecurringNames } from './recurringNames.ts';
import { SlowCandidates } from './slowCandidates.ts';
import { MAX_FIRST_STEP, RATE_WINDOW_MS } from './usualRate.ts';
import { calendarDay, ZoneDays } from './zoneDays.ts';

export interface ProfileOptions {
  readonly maxNames: number;
  /** A learned name without answers for this time is deleted. Only days with answers from the name's zone count. */
  readonly windowMs: number;
}

/**
 * Default of `maxNames`. So many names take 24 MB. The clients of a large hosting provider query a million different
 * names on a busy day.
 */
export const DEFAULT_MAX_NAMES = 1_000_000;
const DAY_MS = 24 * 3_600_000;
/** One week, as at Cloudflare. A week includes all weekly patterns. */
const DEFAULT_WINDOW_MS = 7 * DAY_MS;
/** Maximum of `windowMs`. Days are stored modulo 128, so a longer window could confuse old days with new ones. */
const MAX_WINDOW_MS = 90 * DAY_MS;
/**
 * Number of calls of {@link Profile.sweep}, one per second, that examine the whole table. They must take less than 42
 * minutes, because window numbers repeat after this time, and an old query count would then seem current.
 */
const SWEEPS_PER_ROUND = 1200;
/** Exclusive upper bound of zone numbers. A name's entry has 13 bits for the zone number. */
const ZONE_NUMBERS = 1 << 13;

/**
 * A known name in the form in which it is stored across restarts: hash and notes. The second note also contains the
 * mark of the name's slot (high bits of the zone number).
 */
export type ProfileEntry = readonly [high: number, low: number, firstNote: number, secondNote: number];
const MARK_SHIFT = 16;
const USUAL_RATE = 0xff00;

/** Returns whether a zone still lists the names that were added to the profile in this generation (entry.ts). */
export type SeedHolds = (zone: number, generation: number) => boolean;
const NEVER: SeedHolds = () => false;

type HashedName = Omit<AskedName, 'type'>;

/** Number of the zone that lists a seeded name, and the generation (entry.ts) in which the name was added. */
export interface NameSeed {
  readonly zone: number;
  readonly generation: number;
}
const NO_SEED: NameSeed = { zone: 0, generation: 0 };

/**
 * Result of learning a pair of name and query type:
 * - `known`: the pair was already known.
 * - `learned`: the pair is known from now on.
 * - `first`: the pair is not known, and is a candidate from now on.
 * - `repeated`: the pair is still not known.
 */
export type Learning = 'known' | 'learned' | 'first' | 'repeated';

export class Profile {
  readonly options: ProfileOptions;
  /** Number of days with answers from each zone. The age of a name is measured in such days of its zone. */
  readonly days = new ZoneDays(ZONE_NUMBERS);
  /** Number of zones that are or will be seeded. Each of these zones may fill an equal share of the profile. */
  seededZones = 1;
  /** Numbers of the zones whose seeded names did not all fit into the profile. */
  readonly incompleteZones = new Set<number>();
  readonly #table: NameTable;
  readonly #parts: ProfileParts;
  readonly #candidates = new Candidates();
  readonly #proving = new SlowCandidates();
  /** Allocated when the first zone in which any name may exist is learned. */
  #recurring: RecurringNames | undefined;
  #swept = 0;

  /** `table` must be empty and have capacity for `maxNames`. */
  constructor(options: Partial<ProfileOptions> = {}, table?: NameTable) {
    this.options = {
      maxNames: options.maxNames ?? DEFAULT_MAX_NAMES,
      windowMs: Math.min(options.windowMs ?? DEFAULT_WINDOW_MS, MAX_WINDOW_MS),
    };
    this.#table = table ?? new NameTable(this.options.maxNames);
    this.#parts = { table: this.#table, days: this.days, counts: new Uint32Array(ZONE_NUMBERS) };
  }

  get size(): number {
    return this.#table.size;
  }

  sizeOf(zone: number): number {
    return this.#parts.counts[zone] ?? 0;
  }

  /** Number of bytes of memory that known names and candidates take. */
  get bytes(): number {
    return this.#table.bytes + this.#candidates.bytes + this.#proving.bytes + (this.#recurring?.bytes ?? 0);
  }

  /** Returns the slot of a known name, or -1 for an unknown name. The slot is valid until the profile changes. */
  find(high: number, low: number): number {
    return this.#table.find(high, low);
  }

  hasType(place: number, type: number): boolean {
    return hasType(this.#table, place, type);
  }

  /** Returns the query types for which the name in slot `place` is known, one bit per type. */
  types(place: number): number {
    return typesAt(this.#table, place);
  }

  /** Whether the zone of the name in slot `place` does not list the name. */
  isLearned(place: number): boolean {
    return !isSeeded(this.#table, place);
  }

  /**
   * Counts a query for the name in slot `place`. Returns whether the name exceeds the limit for its usual rate.
   * `learning`: whether the usual rate may change.
   */
  noteQuery(place: number, nowMs: number, learning: boolean): boolean {
    return noteQuery(this.#table, place, nowMs, learning);
  }

  /** Records an answer for the name in slot `place`. Returns whether the name is known with this query type. */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  touch(place: number, type: number, nowMs: number, zone: number, isProven = false): boolean {
    this.days.note(zone, nowMs);
    if (!isSeeded(this.#table, place)) this.#noteAnswer(place, zone, isProven);
    return hasType(this.#table, place, type);
  }

  /**
   * Learns a name and its query type from an answer. `network`: hash of the client's network. `zone`: number of the
   * name's zone. `isProven`: the client's address cannot be forged.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  learn(asked: AskedName, network: number, nowMs: number, zone = 0, isProven = false): Learning {
    const { hashHigh, hashLow, type } = asked;
    const place = this.#table.find(hashHigh, hashLow);
    if (place >= 0 && this.touch(place, type, nowMs, zone, isProven)) return 'known';
    const bit = typeBit(type);
    this.days.note(zone, nowMs);
    const seen = this.#candidates.note(candidateHash(hashHigh, bit), hashLow, network, nowMs);
    if (seen !== 'again') return seen;
    return this.#add(asked, bit, { zone, tenure: isProven ? 1 : 0 }) ? 'learned' : 'repeated';
  }

  /** Like {@link learn}, for a zone under attack: an unknown name becomes known only after answers on three days. */
  learnUnderAttack(asked: AskedName, nowMs: number, zone: number): Learning {
    const { hashHigh, hashLow, type } = asked;
    const place = this.#table.find(hashHigh, hashLow);
    if (place >= 0 && this.touch(place, type, nowMs, zone)) return 'known';
    const bit = typeBit(type);
    this.days.note(zone, nowMs);
    if (!this.#proving.note(candidateHash(hashHigh, bit), hashLow, calendarDay(nowMs))) return 'repeated';
    return this.#add(asked, bit, { zone, tenure: PROVEN_TENURE }) ? 'learned' : 'repeated';
  }

  /**
   * Like {@link learn}, for a zone under attack in which existing names can be told from random ones: a name becomes
   * known after answers to two networks at least ten seconds apart. Its usual rate cannot be measured, so it is the
   * highest that a first measurement yields.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  learnApart(asked: AskedName, network: number, nowMs: number, zone: number): Learning {
    const bit = typeBit(asked.type);
    this.days.note(zone, nowMs);
    const seen = this.#candidates.note(
      candidateHash(asked.hashHigh, bit),
      asked.hashLow,
      network,
      nowMs,
      true,
    );
    if (seen !== 'again') return seen;
    if (!this.#add(asked, bit, { zone, tenure: 0 })) return 'repeated';
    const place = this.#table.find(asked.hashHigh, asked.hashLow);
    const note = this.#table.secondNote(place);
    if ((note & USUAL_RATE) === 0)
      this.#table.replaceSecondNote(place, note, (note | (MAX_FIRST_STEP << 8)) >>> 0);
    return 'learned';
  }

  /** Like {@link learn}, for a zone in which any name may exist: a name becomes known after answers in two hours. */
  learnRecurring(asked: AskedName, nowMs: number, zone: number): Learning {
    const { hashHigh, hashLow, type } = asked;
    const bit = typeBit(type);
    this.days.note(zone, nowMs);
    this.#recurring ??= new RecurringNames();
    const isKnown = this.#table.find(hashHigh, hashLow) >= 0;
    const seen = this.#recurring.note(isKnown ? candidateHash(hashHigh, bit) : hashHigh, hashLow, nowMs);
    if (seen !== 'again') return seen;
    return this.#add(asked, bit, { zone, tenure: 0 }) ? 'learned' : 'repeated';
  }

  /**
   * Adds a name that a zone lists, with its query types (bits). The name stays while the zone lists it. Returns false
   * if the profile is full.
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

  /**
   * Adds a name that was known before a restart, as if it were answered now. `types`: query types as bits. `zone`:
   * number of the name's zone. Returns false if the profile is full.
   */
  readmit(name: HashedName, types: number, zone = 0): boolean {
    return this.#add(name, types, { zone, tenure: 1 });
  }

  /**
   * Deletes learned names without answers for `windowMs`. Changes seeded names that their zone no longer lists into
   * learned names. Each call examines a part of the names. Call every second.
   */
  sweep(nowMs: number, seedHolds: SeedHolds = NEVER): void {
    const table = this.#table;
    const end = Math.min(table.slots, this.#swept + Math.ceil(table.slots / SWEEPS_PER_ROUND));
    const window = Math.floor(nowMs / RATE_WINDOW_MS) & 0xff;
    for (let slot = this.#swept; slot < end; slot++) {
      while (table.isUsed(slot) && this.#isForgotten(slot, seedHolds)) this.#delete(slot);
      const note = table.secondNote(slot);
      // If the replacement fails, another thread has just counted a query, so the note is current.
      if (note !== 0 && (note & 0xff) !== window)
        table.replaceSecondNote(slot, note, (note & USUAL_RATE) | window);
    }
    this.#swept = end >= table.slots ? 0 : end;
  }

  /** Deletes the learned names of these zones. Names that their zone lists remain. */
  deleteLearned(zones: ReadonlySet<number>): void {
    const table = this.#table;
    // A deletion may move another name into the slot.
    for (let slot = 0; slot < table.slots; slot++)
      while (table.isUsed(slot) && !isSeeded(table, slot) && zones.has(zoneAt(table, slot)))
        this.#delete(slot);
  }

  /** Yields every known name. Names learned or deleted during the iteration may or may not be included. */
  *entries(): Generator<ProfileEntry> {
    const table = this.#table;
    for (let slot = 0; slot < table.slots; slot++)
      if (table.isUsed(slot)) {
        const second = (table.mark(slot) << MARK_SHIFT) | (table.secondNote(slot) & USUAL_RATE);
        yield [table.high(slot), table.low(slot), table.firstNote(slot), second];
      }
  }

  /** Restores a stored name, unless the name is known or the profile is full. */
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

  /** Inserts a name. Evicts another name if necessary. Returns the slot, or -1 if no name may be evicted. */
  #insert(newcomer: Newcomer, low: number): number {
    const table = this.#table;
    const mustShare = newcomer.seed === undefined && isOverShare(this.#parts, newcomer.zone);
    if (table.size >= table.capacity || mustShare) {
      const slot = findEvictionSlot(this.#parts, newcomer);
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

  /**
   * Sets the day of a learned name's last answer, and may raise the name's tenure. Lowers its usual rate by one step
   * for each day since the previous answer.
   */
  #noteAnswer(place: number, zone: number, isProven: boolean): void {
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

/** Returns one half of the hash of a pair of name and query type. It differs between query types of one name. */
const candidateHash = (high: number, bit: number): number => (high ^ Math.imul(bit, 0x9e3779b1)) >>> 0;

/**
 * Whether one more day with answers raises a name's tenure. The second and third day raise it. After that, each level
 * of tenure takes twice as many days as the level before, on average.
 */
function isTimeToGrow(tenure: number, draw: number): boolean {
  if (tenure < PROVEN_TENURE) return true;
  return (Math.imul(draw, 0x9e3779b1) >>> 20) % 2 ** (tenure - 1) === 0;
}
