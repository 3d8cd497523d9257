import { parseHeader } from '../../traces/convert/index.ts';
import type { ChainIdentity, Hash } from '../../traces/index.ts';
import type { CallOptions, NodeClient } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { resultOf } from '../client/rpcResponse.ts';

/** Error messages quote at most this number of characters of a chain id: the length of a 256-bit number. */
const MAX_QUOTED_LENGTH = 66;

export interface NodeChain {
  readonly chainId: number;
  /** Undefined if the node has pruned the genesis block. */
  readonly genesisHash: Hash | undefined;
}

/** Requests a node's chain id and genesis hash, which identify its chain. Rejects with NodeError. */
export async function askChain(client: NodeClient, options?: CallOptions): Promise<NodeChain> {
  const [id, genesis] = await client.batch(
    [['eth_chainId'], ['eth_getBlockByNumber', '0x0', false]],
    options,
  );
  const chainId = resultOf('eth_chainId', id);
  if (
    typeof chainId !== 'string' ||
    !/^0x[0-9a-f]{1,14}$/i.test(chainId) ||
    !Number.isSafeInteger(Number(chainId))
  )
    throw new NodeError(
      'nonsense',
      `${client.host} returned the chain id ${String(chainId).slice(0, MAX_QUOTED_LENGTH)}; it must be a 0x string from 0x0 to 0x1fffffffffffff`,
    );
  // A JSON-RPC error for block 0 means, like a null result, that the node has pruned the genesis block.
  const block = genesis !== undefined && 'result' in genesis ? genesis.result : null;
  return { chainId: Number(chainId), genesisHash: block === null ? undefined : hashOf(block, client) };
}

function hashOf(block: unknown, { host }: NodeClient): Hash {
  try {
    return parseHeader(block).hash;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('nonsense', `${host}: ${reason}`, { cause });
  }
}

/** Returns a node's chain as an index identifies it. Throws NodeError if the node has pruned the genesis block. */
export function chainIdentity({ chainId, genesisHash }: NodeChain, { host }: NodeClient): ChainIdentity {
  if (genesisHash !== undefined) return { chainId, genesisHash };
  throw new NodeError('nonsense', `${host} does not return its genesis block, which identifies its chain`);
}

/** Compares two chains. Genesis hashes count only if both are known: a node may have pruned its genesis block. */
export const isSameChain = (a: NodeChain, b: NodeChain): boolean =>
  a.chainId === b.chainId &&
  (a.genesisHash === undefined || b.genesisHash === undefined || a.genesisHash === b.genesisHash);

export const describeChain = ({ chainId, genesisHash }: NodeChain): string =>
  `chain ${chainId}${genesisHash === undefined ? '' : ` with genesis ${genesisHash}`}`;
