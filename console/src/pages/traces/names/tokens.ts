/** Symbols and decimals of tokens, read from the contracts. Both are untrusted: a contract returns what it likes. */
import { signal } from '@preact/signals';
import { rpcBatch } from '../../../api/rpc.ts';
import { symbolIn } from './symbol.ts';

interface Token {
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
}

const SYMBOL = '0x95d89b41';
const DECIMALS = '0x313ce567';
/** Tokens in one batch; each needs two calls. */
const BATCH = 10;
const MAX_TOKENS = 100;
/** The largest uint256 has 78 digits. */
const MAX_DECIMALS = 77;

/** Tokens that were read, with keys such as `mainnet 0x…`. */
export const tokens = signal<ReadonlyMap<string, Token>>(new Map());

export const tokenKey = (network: string, address: string): string => `${network} ${address}`;

export async function loadTokens(
  network: string,
  addresses: readonly string[],
  abort: AbortSignal,
): Promise<void> {
  const unknown = [...new Set(addresses)]
    .filter((address) => !tokens.peek().has(tokenKey(network, address)))
    .slice(0, MAX_TOKENS);
  for (let i = 0; i < unknown.length && !abort.aborted; i += BATCH) {
    const batch = unknown.slice(i, i + BATCH);
    const calls = batch.flatMap((to) =>
      [SYMBOL, DECIMALS].map((data) => ({ method: 'eth_call', params: [{ to, data }, 'latest'] })),
    );
    const answers = await rpcBatch<string>(network, calls, abort);
    if (abort.aborted) return;
    const known = new Map(tokens.peek());
    const outputOf = (at: number) => {
      const answer = answers[at];
      return answer !== undefined && 'value' in answer ? answer.value : '0x';
    };
    batch.forEach((address, at) => {
      const [symbol, decimals] = [symbolIn(outputOf(2 * at)), decimalsIn(outputOf(2 * at + 1))];
      known.set(tokenKey(network, address), { symbol, decimals });
    });
    tokens.value = known;
  }
}

function decimalsIn(output: string): number | undefined {
  if (!/^0x[0-9a-f]{64}$/.test(output)) return undefined;
  const decimals = BigInt(output);
  return decimals > MAX_DECIMALS ? undefined : Number(decimals);
}
