/** Symbols and decimals of tokens, read from the contracts. Both are untrusted: a contract returns what it likes. */
import { rpcBatch } from '../../../api/rpc.ts';
import { batchCache } from '../batchCache.ts';
import { symbolIn } from './symbol.ts';

interface Token {
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
}

const SYMBOL = '0x95d89b41';
const DECIMALS = '0x313ce567';
/** Tokens in one batch; each needs two calls. */
const BATCH = 10;
/** The largest uint256 has 78 digits. */
const MAX_DECIMALS = 77;

export const tokens = batchCache<string, Token>(BATCH, async (network, addresses, abort) => {
  const calls = addresses.flatMap((to) =>
    [SYMBOL, DECIMALS].map((data) => ({ method: 'eth_call', params: [{ to, data }, 'latest'] })),
  );
  const answers = await rpcBatch<string>(network, calls, abort);
  const outputs = answers.map((answer) => ('value' in answer ? answer.value : '0x'));
  return addresses.map((_, at) => ({
    symbol: symbolIn(outputs[2 * at] ?? '0x'),
    decimals: decimalsIn(outputs[2 * at + 1] ?? '0x'),
  }));
});

function decimalsIn(output: string): number | undefined {
  if (!/^0x[0-9a-f]{64}$/.test(output)) return undefined;
  const decimals = BigInt(output);
  return decimals > MAX_DECIMALS ? undefined : Number(decimals);
}
