import type { CallLimits, NodeClient } from './nodeClient.ts';
import type { BlockRef } from './nodeHeads.ts';

/** Any account: what it owns does not matter. */
const SOME_ACCOUNT = `0x${'0'.repeat(40)}`;
/** Codes of a request that was not understood. */
const NOT_UNDERSTOOD: ReadonlySet<unknown> = new Set([-32_600, -32_601, -32_602, -32_700]);

/**
 * Whether a node takes blocks by their hashes where it is asked for state (EIP-1898); undefined where it has not the state
 * of this block. Rejects with NodeError.
 */
export async function takesBlockHashes(
  client: NodeClient,
  { hash }: BlockRef,
  limits?: CallLimits,
): Promise<boolean | undefined> {
  const [response] = await client.batch([['eth_getBalance', SOME_ACCOUNT, { blockHash: hash }]], limits);
  if (response === undefined) return undefined;
  if ('result' in response) return typeof response.result === 'string';
  return NOT_UNDERSTOOD.has(response.error.code) ? false : undefined;
}
