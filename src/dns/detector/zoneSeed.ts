/** Adds all names of a zone to the profile, so that the guard knows these names before clients query them. */

import {
  nameToText,
  QueryType,
  Question,
  queryPacket,
  readQuestionSection,
  typeBit,
  typeNumber,
} from '../protocol/index.ts';
import type { AttackDetector } from './attackDetector.ts';
import type { NameSeed } from './profile/profile.ts';
import type { Zone } from './zones/zone.ts';

export interface SeedResult {
  readonly zone: string;
  /** Number of names added for this zone, including empty non-terminals. Excludes names that were already known. */
  readonly names: number;
  /** Number of names that did not fit into the profile. */
  readonly skipped: number;
}

/** Types that clients query for any name, even if the name has no such record. */
const COMMON_TYPES =
  typeBit(QueryType.A) | typeBit(QueryType.AAAA) | typeBit(QueryType.HTTPS) | typeBit(QueryType.NS);
/**
 * Records of these types do not make their owner a known name. Owners of NSEC3 records are hashes, which clients do
 * not query. Owners of RRSIG and NSEC records also have records of other types.
 */
const IGNORED_TYPES: ReadonlySet<number | undefined> = new Set([
  QueryType.RRSIG,
  QueryType.NSEC,
  QueryType.NSEC3,
]);
const ASTERISK = 0x2a;
/** An IPv4 or IPv6 address in reverse order, as blocklists and reverse zones list them (RFC 5782, RFC 3596). */
const REVERSED_ADDRESS = /^((\d{1,3}\.){3}\d{1,3}|([0-9a-f]\.){31}[0-9a-f])$/;
/** A zone lists addresses if at least this share of its names are reversed addresses, and so many names. */
const MIN_ADDRESS_SHARE = 0.9;
const MIN_ADDRESSES = 20;

export interface ZoneSeedOptions {
  readonly zone: string;
}

export interface ZoneSeedDependencies {
  readonly detector: AttackDetector;
  /** Called with each added name in wire form. */
  readonly onName?: ((name: Uint8Array) => void) | undefined;
}

export class ZoneSeed {
  readonly #detector: AttackDetector;
  readonly #zone: Zone | undefined;
  readonly #seed: NameSeed;
  readonly #zoneName: string;
  readonly #onName: ZoneSeedDependencies['onName'];
  readonly #question = new Question();
  /** Subtrees in which every name exists, because a record added so far is a wildcard, a delegation or a DNAME. */
  readonly #boundless = new Set<Zone>();
  /** All such subtrees before this seeding. */
  readonly #boundlessBefore: ReadonlySet<Zone>;
  #names = 0;
  #skipped = 0;
  #owners = 0;
  #addresses = 0;

  constructor({ zone }: ZoneSeedOptions, { detector, onName }: ZoneSeedDependencies) {
    this.#detector = detector;
    this.#onName = onName;
    this.#zone = detector.zones.add(zone);
    this.#zoneName = this.#zone?.name ?? '';
    this.#boundlessBefore = new Set(detector.zones.all().filter(({ anyNameExists }) => anyNameExists));
    this.#seed = { zone: this.#zone?.number ?? 0, generation: this.#zone?.seed.begin() ?? 0 };
    const wasIncomplete = detector.profile.incompleteZones.delete(this.#seed.zone);
    if (wasIncomplete && this.#zone !== undefined) this.#zone.seed.wasIncomplete = true;
  }

  /**
   * Adds the owner of a record (in wire form) to the profile. `type`: type of the record. Ignores records outside the
   * zone, as authoritative servers do.
   */
  add(owner: Uint8Array, type: string): void {
    const number = typeNumber(type);
    if (IGNORED_TYPES.has(number)) return;
    const name = nameToText(owner);
    const isApex = name === this.#zoneName;
    if (!isApex && this.#zoneName !== '' && !name.endsWith(`.${this.#zoneName}`)) return;
    const isCut = type === 'NS' && !isApex;
    if (isCut || type === 'DNAME') this.#markBoundless(owner);
    if (owner[1] === ASTERISK && owner[0] === 1) this.#markBoundless(owner.subarray(2));
    this.#owners++;
    if (REVERSED_ADDRESS.test(name.slice(0, -this.#zoneName.length - 1))) this.#addresses++;
    this.#addName(owner, COMMON_TYPES | typeBit(number ?? 0));
    this.#addEmptyNonTerminals(owner);
  }

  /**
   * Marks the zone as seeded. Call after the last record. A subtree whose wildcard or delegation no longer exists is
   * judged by names again.
   */
  finish(): SeedResult {
    for (const zone of this.#detector.zones.all())
      if (zone.boundlessBy === this.#zoneName && !this.#boundless.has(zone)) zone.anyNameExists = false;
    if (this.#zone !== undefined) {
      this.#zone.seed.end();
      this.#zone.seed.wasIncomplete = false;
      this.#zone.seed.listsAddresses =
        this.#addresses >= MIN_ADDRESSES && this.#addresses >= MIN_ADDRESS_SHARE * this.#owners;
      this.#detector.noteSeeded(this.#zone);
    }
    return { zone: this.#zoneName, names: this.#names, skipped: this.#skipped };
  }

  /** Ends a read that failed. Subtrees that only this read found are judged by names again: its data may be wrong. */
  abandon(): void {
    for (const zone of this.#boundless) if (!this.#boundlessBefore.has(zone)) zone.anyNameExists = false;
  }

  #addName(owner: Uint8Array, types: number): boolean {
    const { profile, key } = this.#detector;
    const question = this.#question;
    readQuestionSection(queryPacket(owner, 0), key, question);
    const isNew = profile.find(question.hashHigh, question.hashLow) < 0;
    const added = profile.seed(question, types, this.#seed);
    if (added) this.#onName?.(owner);
    if (!added) this.#skipped++;
    else if (isNew) this.#names++;
    return isNew;
  }

  /**
   * Adds the names between an owner and its zone that have no records (empty non-terminals), because resolvers with
   * query name minimisation (RFC 9156) query them.
   */
  #addEmptyNonTerminals(owner: Uint8Array): void {
    let name = owner;
    for (;;) {
      name = name.subarray((name[0] ?? 0) + 1);
      if (name.length <= 1 || nameToText(name) === this.#zoneName) return;
      if (!nameToText(name).endsWith(`.${this.#zoneName}`)) return;
      if (!this.#addName(name, COMMON_TYPES)) return;
    }
  }

  #markBoundless(name: Uint8Array): void {
    const zone = this.#detector.zones.addWire(name);
    if (zone?.markBoundless(this.#zoneName)) this.#boundless.add(zone);
  }
}
