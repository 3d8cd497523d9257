import { type Address, MAX_COUNT, type Trace, type TraceFilter } from '../../../src/ethereum/traces/index.ts';
import type { Random } from '../../support/random.ts';
import type { NodeChain } from './nodeChain.ts';

/** A filter as it is sent, in any accepted notation, and its meaning. */
export interface Query {
  readonly asked: Readonly<Record<string, unknown>>;
  readonly meant: TraceFilter;
}

/** Returns every address that occurs in a trace. */
export function addressesOf(traces: readonly Trace[]): Address[] {
  const found = new Set(JSON.stringify(traces).match(/(?<=")0x[0-9a-f]{40}(?=")/g) ?? []);
  return [...found] as Address[]; // matched by the expression above
}

/** Returns a random filter for a chain: addresses, range, `after`, `count` and `mode`, in any accepted notation. */
export function randomQuery(random: Random, chain: NodeChain, addresses: readonly Address[]): Query {
  const bounds = randomBounds(random, chain);
  const from = randomAddresses(random, addresses);
  const to = randomAddresses(random, addresses);
  const mode = random.pick([{}, { mode: null }, { mode: 'intersection' }, { mode: 'union' }] as const);
  const after = random.chance(0.5) ? undefined : random.below(random.pick([5, 50, chain.traces.length + 10]));
  const count = random.chance(0.15) ? undefined : randomCount(random);
  return {
    asked: {
      ...bounds.asked,
      ...(from.asked !== undefined && { fromAddress: from.asked }),
      ...(to.asked !== undefined && { toAddress: to.asked }),
      ...mode,
      ...(after !== undefined ? { after: quantity(random, after) } : random.chance(0.1) && { after: null }),
      ...(count !== undefined ? { count: quantity(random, count) } : random.chance(0.1) && { count: null }),
    },
    meant: {
      ...bounds.meant,
      fromAddresses: from.meant,
      toAddresses: to.meant,
      mode: ('mode' in mode ? mode.mode : null) ?? 'intersection',
      after: after ?? 0,
      count: count ?? MAX_COUNT,
      wantsAll: count === undefined,
    },
  };
}

const randomCount = (random: Random): number =>
  random.chance(0.3) ? MAX_COUNT : random.below(random.pick([5, MAX_COUNT + 1]));

function randomBounds(random: Random, { head, tags }: NodeChain) {
  const bound = (): { asked: unknown; number: number } => {
    const tag = random.pick(['latest', 'safe', 'finalized', 'earliest'] as const);
    if (random.chance(0.15)) return { asked: tag, number: tags[tag] };
    if (random.chance(0.05)) return { asked: random.chance(0.5) ? null : undefined, number: tags.latest };
    const number = random.below(head + 1);
    return { asked: quantity(random, number), number };
  };
  const [from, to] = [bound(), bound()].sort((a, b) => a.number - b.number);
  if (from === undefined || to === undefined) throw new Error('randomBounds needs two bounds');
  return {
    asked: {
      ...(from.asked !== undefined && { fromBlock: from.asked }),
      ...(to.asked !== undefined && { toBlock: to.asked }),
    },
    meant: { fromBlock: from.number, toBlock: to.number },
  };
}

/** Formats a number as a JSON integer or as hex in either case, with or without leading zeros. */
function quantity(random: Random, value: number): number | string {
  if (random.chance(0.4)) return value;
  const digits = value.toString(16);
  const spelled = random.chance(0.3) ? digits.toUpperCase() : digits;
  return `0x${'0'.repeat(random.chance(0.2) ? random.below(70) : 0)}${spelled}`;
}

const UNRESTRICTED = [{}, { asked: null }, { asked: [] }] as const;

function randomAddresses(
  random: Random,
  addresses: readonly Address[],
): { asked?: unknown; meant: readonly Address[] } {
  if (random.chance(0.35)) return { ...random.pick(UNRESTRICTED), meant: [] };
  const many = random.chance(0.1) ? 60 : 4;
  const meant = Array.from({ length: random.between(1, many) }, () =>
    random.chance(0.05) ? (random.hex(20) as Address) : random.pick(addresses),
  );
  const [only] = meant;
  if (meant.length === 1 && only !== undefined && random.chance(0.5))
    return { asked: spelled(random, only), meant };
  return { asked: meant.map((address) => spelled(random, address)), meant };
}

/** Formats an address in lower, upper or mixed case. */
function spelled(random: Random, address: Address): string {
  const digits = address.slice(2);
  if (random.chance(0.4)) return address;
  if (random.chance(0.3)) return `0x${digits.toUpperCase()}`;
  return `0x${[...digits].map((digit) => (random.chance(0.5) ? digit.toUpperCase() : digit)).join('')}`;
}
