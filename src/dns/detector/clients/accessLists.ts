/**
 * Allowed and denied networks and names, checked before any rule. Of several matching entries, the longest prefix or
 * the deepest name applies. Shared memory has two halves. New lists are written to the inactive half, which then
 * becomes active, so that no thread reads a mixture of old and new lists.
 */
import type { Network } from '../../../platform/addresses/index.ts';
import { type HashKey, nameToWire, type Question, questionOfWire, suffixHash } from '../../protocol/index.ts';
import { ClientAddress } from './clientAddress.ts';

export type Access = 'allow' | 'deny';

/** Entries of the access lists. If two entries have the same network or the same name, `allow` applies. */
export interface AccessLists {
  readonly networks: readonly { readonly network: Network; readonly access: Access }[];
  /** Domain names. An entry also applies to all names below its name. */
  readonly names: readonly { readonly name: string; readonly access: Access }[];
}

export const NO_LISTS: AccessLists = { networks: [], names: [] };

/** Maximum number of entries with networks, and of entries with names. */
export const MAX_ACCESS_ENTRIES = 2000;
/** Number of slots of each hash table. At most a quarter is used, so that probe sequences stay short. */
const SLOTS = 8192;
const NETWORK_WORDS = 5;
const NAME_WORDS = 3;
/**
 * Offsets in one half of the memory: number of prefix lengths; the prefix lengths, longest first; hash table of
 * networks; hash table of names.
 */
const LENGTHS = 0;
const LENGTHS_AT = 1;
const IPV4_BITS = 32;
const IPV6_BITS = 128;
const NETWORKS_AT = LENGTHS_AT + IPV4_BITS + 1 + IPV6_BITS + 1;
const NAMES_AT = NETWORKS_AT + SLOTS * NETWORK_WORDS;
const WORDS = NAMES_AT + SLOTS * NAME_WORDS;
/** The memory starts with one word of flags (active half, has networks, has names). The two halves follow. */
const HALVES_AT = 1;
const SECOND_HALF = 1;
const HAS_NETWORKS = 2;
const HAS_NAMES = 4;
export const ACCESS_LISTS_BYTES = (HALVES_AT + 2 * WORDS) * 4;

const ALLOW = 1;
const DENY = 2;
/** Added to the prefix length of an IPv6 network, to distinguish it from the prefix length of an IPv4 network. */
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

  /** Whether the lists have no entries. Reads one word without Atomics, because this runs for each packet. */
  get isEmpty(): boolean {
    return ((this.#memory[0] ?? 0) & (HAS_NETWORKS | HAS_NAMES)) === 0;
  }

  /** Whether the lists contain networks. If not, the client's address need not be parsed. */
  get haveNetworks(): boolean {
    return (Atomics.load(this.#memory, 0) & HAS_NETWORKS) !== 0;
  }

  get haveNames(): boolean {
    return (Atomics.load(this.#memory, 0) & HAS_NAMES) !== 0;
  }

  /** Returns whether a client is allowed or denied by its network, or undefined if no entry matches. */
  ofClient({ isKnown, isIpv6, words }: ClientAddress): Access | undefined {
    const half = this.#activeHalf;
    if (!isKnown) return undefined;
    const lengths = half[LENGTHS] ?? 0;
    for (let i = 0; i < lengths; i++) {
      const length = half[LENGTHS_AT + i] ?? 0;
      if (length >= IPV6 !== isIpv6) continue;
      this.#mask(words, isIpv6 ? length - IPV6 : length);
      const found = half[this.#networkSlot(half, length) + NETWORK_WORDS - 1] ?? 0;
      if (found !== 0) return accessOf(found & 3);
    }
    return undefined;
  }

  /** Returns whether the queried name is allowed or denied, or undefined if no entry matches. */
  ofName(question: Question): Access | undefined {
    const half = this.#activeHalf;
    for (let suffix = question.labels - 1; suffix >= 0; suffix--) {
      const place = nameSlot(half, question.suffixHigh[suffix] ?? 0, question.suffixLow[suffix] ?? 0);
      const found = half[place + 2] ?? 0;
      if (found !== 0) return accessOf(found);
    }
    return undefined;
  }

  /** Replaces all entries. Throws `RangeError` and changes nothing if one list exceeds MAX_ACCESS_ENTRIES. */
  write({ networks, names }: AccessLists, key: HashKey): void {
    if (Math.max(networks.length, names.length) > MAX_ACCESS_ENTRIES)
      throw new RangeError(`access list has more than ${MAX_ACCESS_ENTRIES} entries`);
    const next = 1 - (Atomics.load(this.#memory, 0) & SECOND_HALF);
    const half = this.#halves[next] as Int32Array; // index is 0 or 1
    half.fill(0);
    const address = new ClientAddress();
    const lengths = new Set<number>();
    for (const { network, access } of networks) {
      address.read(network.address);
      const length = address.isIpv6 ? network.bits + IPV6 : network.bits;
      lengths.add(length);
      this.#mask(address.words, network.bits);
      const place = this.#networkSlot(half, length);
      half.set(this.#masked, place);
      addTo(half, place + NETWORK_WORDS - 1, ((length + 1) << 2) | wordOf(access));
    }
    for (const { name, access } of names) {
      const question = questionOfWire(nameToWire(name), 0, key);
      const [high, low] = suffixHash(question, question.labels);
      const place = nameSlot(half, high, low);
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

  get #activeHalf(): Int32Array {
    return this.#halves[Atomics.load(this.#memory, 0) & SECOND_HALF] as Int32Array; // index is 0 or 1
  }

  #mask(words: Int32Array, bits: number): void {
    for (let i = 0; i < 4; i++) {
      const left = bits - 32 * i;
      this.#masked[i] = left >= 32 ? (words[i] ?? 0) : left <= 0 ? 0 : (words[i] ?? 0) & (-1 << (32 - left));
    }
  }

  /** Returns the offset of the entry for the network in `#masked`, or of a free slot if there is no such entry. */
  #networkSlot(half: Int32Array, length: number): number {
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
      slot = (slot + 1) & (SLOTS - 1);
    }
  }
}

function nameSlot(half: Int32Array, high: number, low: number): number {
  for (let slot = high & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
    const place = NAMES_AT + slot * NAME_WORDS;
    if (half[place + 2] === 0 || (half[place] === high && half[place + 1] === low)) return place;
  }
}

/** Stores an entry at an offset, unless an `allow` entry for the same network or name is stored there. */
function addTo(half: Int32Array, at: number, entry: number): void {
  if (((half[at] ?? 0) & 3) !== ALLOW) half[at] = entry;
}

const wordOf = (access: Access): number => (access === 'allow' ? ALLOW : DENY);
const accessOf = (word: number): Access => (word === ALLOW ? 'allow' : 'deny');
