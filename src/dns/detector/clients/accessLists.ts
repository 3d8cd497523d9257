/**
 * Which networks and names are allowed or denied whatever else is decided, in shared memory. The most specific entry counts: the
 * longest prefix, the deepest name. A list is written beside the one in force and then takes its place, so that a
 * thread reads one or the other and never a mixture.
 */
import type { Network } from '../../../platform/addresses/index.ts';
import {
  type HashKey,
  nameToWire,
  type Question,
  questionOfWire,
  questionSuffix,
} from '../../protocol/index.ts';
import { ClientAddress } from './clientAddress.ts';

export type Access = 'allow' | 'deny';

/** Entries by what they are about; where two are about the same, `allow` counts. */
export interface AccessLists {
  readonly networks: readonly { readonly network: Network; readonly access: Access }[];
  /** In text; each is about the names below it, too. */
  readonly names: readonly { readonly name: string; readonly access: Access }[];
}

export const NO_LISTS: AccessLists = { networks: [], names: [] };

/** Entries of each kind; more are refused. */
export const MAX_ACCESS_ENTRIES = 2000;
/** Twice as many places and more: a look finds a free one soon. */
const PLACES = 8192;
const NETWORK_WORDS = 5;
const NAME_WORDS = 3;
/** How many lengths of prefixes there are; then the lengths, longest first; then the two tables. */
const LENGTHS = 0;
const LENGTHS_AT = 1;
const IPV4_BITS = 32;
const IPV6_BITS = 128;
const NETWORKS_AT = LENGTHS_AT + IPV4_BITS + 1 + IPV6_BITS + 1;
const NAMES_AT = NETWORKS_AT + PLACES * NETWORK_WORDS;
const WORDS = NAMES_AT + PLACES * NAME_WORDS;
/** The word that says which half is in force and what is in it, and the halves. */
const HALVES_AT = 1;
const SECOND_HALF = 1;
const HAS_NETWORKS = 2;
const HAS_NAMES = 4;
export const ACCESS_LISTS_BYTES = (HALVES_AT + 2 * WORDS) * 4;

const ALLOW = 1;
const DENY = 2;
/** What is looked up of an IPv6 prefix: its length moved behind those of IPv4. */
const IPV6 = IPV4_BITS + 1;

export class SharedAccessLists {
  readonly #memory: Int32Array;
  readonly #halves: readonly Int32Array[];
  readonly #masked = new Int32Array(4);

  constructor(memory: SharedArrayBuffer) {
    this.#memory = new Int32Array(memory);
    this.#halves = [0, 1].map((half) =>
      this.#memory.subarray(HALVES_AT + half * WORDS, HALVES_AT + (half + 1) * WORDS),
    );
  }

  /** Whether there is nothing in the lists: one plain look at one word, as it is asked for every packet. */
  get isEmpty(): boolean {
    return ((this.#memory[0] ?? 0) & (HAS_NETWORKS | HAS_NAMES)) === 0;
  }

  /** Whether there are entries about networks, and so the client's address is needed. */
  get haveNetworks(): boolean {
    return (Atomics.load(this.#memory, 0) & HAS_NETWORKS) !== 0;
  }

  get haveNames(): boolean {
    return (Atomics.load(this.#memory, 0) & HAS_NAMES) !== 0;
  }

  /** What the lists say of a client; undefined where they say nothing. */
  ofClient({ isKnown, isIpv6, words }: ClientAddress): Access | undefined {
    const half = this.#inForce;
    if (!isKnown) return undefined;
    const lengths = half[LENGTHS] ?? 0;
    for (let i = 0; i < lengths; i++) {
      const length = half[LENGTHS_AT + i] ?? 0;
      if (length >= IPV6 !== isIpv6) continue;
      this.#mask(words, isIpv6 ? length - IPV6 : length);
      const found = half[this.#networkPlace(half, length) + NETWORK_WORDS - 1] ?? 0;
      if (found !== 0) return accessOf(found & 3);
    }
    return undefined;
  }

  /** What the lists say of a name; undefined where they say nothing. */
  ofName(question: Question): Access | undefined {
    const half = this.#inForce;
    for (let suffix = question.labels - 1; suffix >= 0; suffix--) {
      const place = namePlace(half, question.suffixHigh[suffix] ?? 0, question.suffixLow[suffix] ?? 0);
      const found = half[place + 2] ?? 0;
      if (found !== 0) return accessOf(found);
    }
    return undefined;
  }

  /** Puts other lists in force. Throws `RangeError` where they are too long, and then nothing changes. */
  write({ networks, names }: AccessLists, key: HashKey): void {
    if (Math.max(networks.length, names.length) > MAX_ACCESS_ENTRIES)
      throw new RangeError(`an access list has more than ${MAX_ACCESS_ENTRIES} entries`);
    const next = 1 - (Atomics.load(this.#memory, 0) & SECOND_HALF);
    const half = this.#halves[next] as Int32Array; // there are two
    half.fill(0);
    const address = new ClientAddress();
    const lengths = new Set<number>();
    for (const { network, access } of networks) {
      address.read(network.address);
      const length = address.isIpv6 ? network.bits + IPV6 : network.bits;
      lengths.add(length);
      this.#mask(address.words, network.bits);
      const place = this.#networkPlace(half, length);
      half.set(this.#masked, place);
      addTo(half, place + NETWORK_WORDS - 1, ((length + 1) << 2) | wordOf(access));
    }
    for (const { name, access } of names) {
      const question = questionOfWire(nameToWire(name), 0, key);
      const [high, low] = questionSuffix(question, question.labels);
      const place = namePlace(half, high, low);
      half[place] = high;
      half[place + 1] = low;
      addTo(half, place + 2, wordOf(access));
    }
    half[LENGTHS] = lengths.size;
    half.set(
      [...lengths].sort((a, b) => b - a),
      LENGTHS_AT,
    );
    const has = (networks.length > 0 ? HAS_NETWORKS : 0) | (names.length > 0 ? HAS_NAMES : 0);
    Atomics.store(this.#memory, 0, next | has);
  }

  get #inForce(): Int32Array {
    return this.#halves[Atomics.load(this.#memory, 0) & SECOND_HALF] as Int32Array; // there are two
  }

  #mask(words: Int32Array, bits: number): void {
    for (let i = 0; i < 4; i++) {
      const left = bits - 32 * i;
      this.#masked[i] = left >= 32 ? (words[i] ?? 0) : left <= 0 ? 0 : (words[i] ?? 0) & (-1 << (32 - left));
    }
  }

  /** Where the masked address stands with this length, or would. */
  #networkPlace(half: Int32Array, length: number): number {
    const masked = this.#masked;
    const a = masked[0] ?? 0;
    const b = masked[1] ?? 0;
    const c = masked[2] ?? 0;
    const d = masked[3] ?? 0;
    let slot =
      Math.imul(a ^ Math.imul(b, 31) ^ Math.imul(c, 961) ^ Math.imul(d, 29_791) ^ length, 0x9e3779b1) >>> 19;
    for (;;) {
      const place = NETWORKS_AT + slot * NETWORK_WORDS;
      const entry = half[place + NETWORK_WORDS - 1] ?? 0;
      const isSame =
        half[place] === a && half[place + 1] === b && half[place + 2] === c && half[place + 3] === d;
      if (entry === 0 || (isSame && entry >>> 2 === length + 1)) return place;
      slot = (slot + 1) & (PLACES - 1);
    }
  }
}

function namePlace(half: Int32Array, high: number, low: number): number {
  for (let slot = high & (PLACES - 1); ; slot = (slot + 1) & (PLACES - 1)) {
    const place = NAMES_AT + slot * NAME_WORDS;
    if (half[place + 2] === 0 || (half[place] === high && half[place + 1] === low)) return place;
  }
}

/** An entry that allows stays when another one about the same denies. */
function addTo(half: Int32Array, at: number, entry: number): void {
  if (((half[at] ?? 0) & 3) !== ALLOW) half[at] = entry;
}

const wordOf = (access: Access): number => (access === 'allow' ? ALLOW : DENY);
const accessOf = (word: number): Access => (word === ALLOW ? 'allow' : 'deny');
