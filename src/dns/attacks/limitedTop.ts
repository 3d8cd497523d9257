/** Finds the most frequent name patterns, query types and client networks of limited queries, and samples names. */
import { groupsOf, plainAddress } from '../../platform/addresses/index.ts';
import type { AttackDetector, LimitedQuery, Zone } from '../detector/index.ts';
import { nameToText, type Question, typeName } from '../protocol/index.ts';
import type { Attack, SampledName } from './attack.ts';
import { namePattern } from './namePattern.ts';
import { SpaceSaving } from './spaceSaving.ts';

/** Number of counters per list. A list contains every value that more than 1/128 of the sampled queries have. */
const COUNTERS = 128;
const MAX_SAMPLED_NAMES = 20;
const IPV4_OCTETS = 3;
/** A /56 network consists of the first three groups of an IPv6 address and the upper half of the fourth. */
const IPV6_GROUPS = 3;
const UPPER_HALF = 0xff00;

export class LimitedTop {
  readonly #names: SpaceSaving;
  readonly #types: SpaceSaving;
  readonly #networks: SpaceSaving;
  readonly #sampledNames: SampledName[];
  readonly #random: () => number;
  #sampled: number;
  #weight: number;

  /** `stored`: the attack as it was stored before a restart. Its counts are continued. */
  constructor(stored: Pick<Attack, 'top' | 'sampled_names'> | undefined, random: () => number) {
    this.#names = new SpaceSaving(COUNTERS, stored?.top.names);
    this.#types = new SpaceSaving(COUNTERS, stored?.top.types);
    this.#networks = new SpaceSaving(COUNTERS, stored?.top.networks);
    this.#sampledNames = [...(stored?.sampled_names ?? [])];
    this.#sampled = stored?.top.sampled ?? 0;
    this.#weight = stored?.top.weight ?? 0;
    this.#random = random;
  }

  /** Counts a sampled query, and may keep its name as one of the sampled names. */
  add({ name, type, client, weight }: LimitedQuery, asked: SampleContext): void {
    const network = networkOf(client);
    this.#sampled++;
    this.#weight += weight;
    this.#names.add(namePattern(name, asked.question, asked), weight);
    this.#types.add(typeName(type), weight);
    this.#networks.add(network, weight);
    // Reservoir sampling: each query is kept with the same probability.
    const at =
      this.#sampled <= MAX_SAMPLED_NAMES ? this.#sampled - 1 : Math.floor(this.#random() * this.#sampled);
    if (at < MAX_SAMPLED_NAMES)
      this.#sampledNames[at] = { name: nameToText(name), type: typeName(type), network };
  }

  /** Returns the lists of most frequent values, with at most `most` values in each list, and the sampled names. */
  toLists(most = COUNTERS): Pick<Attack, 'top' | 'sampled_names'> {
    return {
      top: {
        sampled: this.#sampled,
        weight: Math.round(this.#weight),
        names: rounded(this.#names, most),
        types: rounded(this.#types, most),
        networks: rounded(this.#networks, most),
      },
      sampled_names: [...this.#sampledNames],
    };
  }
}

export interface SampleContext {
  readonly question: Question;
  readonly zone: Zone;
  readonly detector: Pick<AttackDetector, 'key' | 'profile'>;
}

const rounded = (counters: SpaceSaving, most: number) =>
  counters
    .top(most)
    .map(({ value, count, error }) => ({ value, count: Math.round(count), error: Math.round(error) }));

/** Returns the network of a client address: /24 for IPv4, /56 for IPv6. */
export function networkOf(client: string): string {
  const address = plainAddress(client);
  if (!address.includes(':')) return `${address.split('.').slice(0, IPV4_OCTETS).join('.')}.0/24`;
  const groups = groupsOf(address);
  const half = (Number.parseInt(groups[IPV6_GROUPS] ?? '0', 16) & UPPER_HALF).toString(16);
  return `${[...groups.slice(0, IPV6_GROUPS), half].join(':')}::/56`;
}
