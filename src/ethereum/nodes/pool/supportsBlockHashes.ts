import type { CallOptions, NodeClient } from '../client/nodeClient.ts';
import type { BlockRef } from './nodeHeads.ts';

/** Account whose balance the test requests. Any account will do. */
const SOME_ACCOUNT = `0x${'0'.repeat(40)}`;
/** JSON-RPC error codes by which a node says that it does not support a request. */
const NOT_UNDERSTOOD: ReadonlySet<unknown> = new Set([-32_600, -32_601, -32_602, -32_700]);

/**
 * Tests if a node accepts block hashes in state requests (EIP-1898). Returns undefined if its response does not show
 * that, for example because the node does not have the state of this block. Rejects with NodeError.
 */
export async function takesBlockHashes(
  client: NodeClient,
  { hash }: BlockRef,
  options?: CallOptions,
): Promise<boolean | undefined> {
  const [response] = await client.batch([['eth_getBalance', SOME_ACCOUNT, { blockHash: hash }]], options);
  if (response === undefined) return undefined;
  if ('result' in response) return typeof response.result === 'string';
  return NOT_UNDERSTOOD.has(response.error.code) ? false : undefined;
}
