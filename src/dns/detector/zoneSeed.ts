/** Puts every name of a zone into the profile, so that a guard knows it from the first query on. */

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
  /** Names in the profile because of this zone, empty non-terminals among them. */
  readonly names: number;
  /** Names for which the profile had no room. */
  readonly noRoom: number;
}

/** What clients ask of any name, whether the zone has it or not. */
const ALWAYS_ASKED =
  typeBit(QueryType.A) | typeBit(QueryType.AAAA) | typeBit(QueryType.HTTPS) | typeBit(QueryType.NS);
/** Owners of these are not asked for by name (the hashes of NSEC3), or have another record that says so. */
const NO_NAMES: ReadonlySet<number | undefined> = new Set([QueryType.RRSIG, QueryType.NSEC, QueryType.NSEC3]);
const ASTERISK = 0x2a;

export interface ZoneSeedOptions {
  /** The zone's name, in text. */
  readonly zone: string;
}

export interface ZoneSeedDependencies {
  readonly detector: AttackDetector;
  /** Hears of every name, in wire form. */
  readonly onName?: ((name: Uint8Array) => void) | undefined;
}

export class ZoneSeed {
  readonly #detector: AttackDetector;
  readonly #zone: Zone | undefined;
  readonly #seed: NameSeed;
  readonly #zoneName: string;
  readonly #onName: ZoneSeedDependencies['onName'];
  readonly #question = new Question();
  /** Subtrees in which any name answers, as this seed finds them. */
  readonly #boundless = new Set<Zone>();
  #names = 0;
  #noRoom = 0;

  constructor({ zone }: ZoneSeedOptions, { detector, onName }: ZoneSeedDependencies) {
    this.#detector = detector;
    this.#onName = onName;
    this.#zone = detector.zones.add(zone);
    this.#zoneName = this.#zone?.name ?? '';
    this.#seed = { zone: this.#zone?.number ?? 0, generation: this.#zone?.seed.begin() ?? 0 };
    detector.profile.incompleteZones.delete(this.#seed.zone);
  }

  /** Adds the owner (in wire form) of one record of the zone. */
  add(owner: Uint8Array, type: string): void {
    const number = typeNumber(type);
    if (NO_NAMES.has(number)) return;
    const isCut = type === 'NS' && nameToText(owner) !== this.#zoneName;
    if (isCut || type === 'DNAME') this.#markBoundless(owner);
    if (owner[1] === ASTERISK && owner[0] === 1) this.#markBoundless(owner.subarray(2));
    this.#addName(owner, ALWAYS_ASKED | typeBit(number ?? 0));
    this.#addEmptyNonTerminals(owner);
  }

  /** Ends the seed: from now on the zone counts as known. Takes back what an earlier seed said about wildcards and delegations that are gone. */
  finish(): SeedResult {
    for (const zone of this.#detector.zones.all())
      if (zone.boundlessBy === this.#zoneName && !this.#boundless.has(zone)) zone.boundless = false;
    this.#zone?.seed.end();
    if (this.#zone !== undefined) this.#detector.noteSeeded(this.#zone);
    return { zone: this.#zoneName, names: this.#names, noRoom: this.#noRoom };
  }

  #addName(owner: Uint8Array, types: number): boolean {
    const { profile, key } = this.#detector;
    const question = this.#question;
    readQuestionSection(queryPacket(owner, 0), key, question);
    const isNew = profile.find(question.hashHigh, question.hashLow) < 0;
    const added = profile.seed(question, types, this.#seed);
    if (added) this.#onName?.(owner);
    if (!added) this.#noRoom++;
    else if (isNew) this.#names++;
    return isNew;
  }

  /** Resolvers that minimise their questions (RFC 9156) ask for the names in between too. */
  #addEmptyNonTerminals(owner: Uint8Array): void {
    let name = owner;
    for (;;) {
      name = name.subarray((name[0] ?? 0) + 1);
      if (name.length <= 1 || nameToText(name) === this.#zoneName) return;
      if (!nameToText(name).endsWith(`.${this.#zoneName}`)) return;
      if (!this.#addName(name, ALWAYS_ASKED)) return;
    }
  }

  #markBoundless(name: Uint8Array): void {
    const zone = this.#detector.zones.addWire(name);
    if (zone === undefined) return;
    zone.boundless = true;
    zone.boundlessBy = this.#zoneName;
    this.#boundless.add(zone);
  }
}
