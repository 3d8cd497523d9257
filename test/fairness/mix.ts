import { Random } from '../support/random.ts';
import { GREEDY, type GreedyKind } from './greedy/kinds.ts';

const TLS_SHARE = 0.3;
const SAME_ADDRESS_SHARE = 0.25;
const GREEDY_CLIENTS = [2, 5] as const;
/** Last octet of the address of the first greedy client. */
const FIRST_OCTET = 10;

/** Greedy clients that run at the same time. The seed determines everything. */
export interface Mix {
  readonly seed: number;
  readonly isTls: boolean;
  readonly greedy: readonly GreedyClient[];
}

interface GreedyClient {
  readonly kind: GreedyKind;
  readonly address: string;
  readonly seed: number;
}

export function mixOf(seed: number): Mix {
  const random = new Random(seed);
  const isTls = random.chance(TLS_SHARE);
  const kinds = new Set(
    (Object.keys(GREEDY) as GreedyKind[]).filter((kind) => isTls || kind !== 'handshakes'),
  );
  const greedy: GreedyClient[] = [];
  for (let left = random.between(...GREEDY_CLIENTS); left > 0; left--) {
    const kind = random.pick([...kinds]);
    kinds.delete(kind);
    const isSame = random.chance(SAME_ADDRESS_SHARE);
    const address = (isSame && greedy.at(-1)?.address) || `127.0.0.${FIRST_OCTET + greedy.length}`;
    greedy.push({ kind, address, seed: random.below(2 ** 32) });
  }
  return { seed, isTls, greedy };
}
