import { successEnvelope } from '../http/envelope.ts';
import type { Route } from '../routes/route.ts';

const NO_NAMES = { abis: {}, labels: {} };

/** Returns the names of the console. They may have 5 MiB, so they are serialised only when they change. */
export function namesHandler(names: () => object = () => NO_NAMES): Route['handle'] {
  let last: { readonly names: object; readonly body: Buffer } | undefined;
  return async () => {
    const now = names();
    if (last?.names !== now) last = { names: now, body: Buffer.from(successEnvelope(now)) };
    return { body: last.body, headers: { 'cache-control': 'no-store' } };
  };
}
