import { parseHeader } from '../traces/convert/index.ts';
import type { ChainIdentity, Hash } from '../traces/index.ts';
import type { CallLimits, NodeClient } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { resultOf } from './rpcResponse.ts';

/** Which chain a node is on. */
export interface NodeChain {
  readonly chainId: number;
  /** Undefined where the node does not keep its first block. */
  readonly genesisHash: Hash | undefined;
}

/** Which chain a node is on. Rejects with NodeError. */
export async function askChain(client: NodeClient, limits?: CallLimits): Promise<NodeChain> {
  const [id, genesis] = await client.batch([['eth_chainId'], ['eth_getBlockByNumber', '0x0', false]], limits);
  const chainId = resultOf('eth_chainId', id);
  if (
    typeof chainId !== 'string' ||
    !/^0x[0-9a-f]{1,14}$/i.test(chainId) ||
    !Number.isSafeInteger(Number(chainId))
  )
    throw new NodeError('nonsense', `${client.host} has a chain id that is no number`);
  // A node that answers this with an error has dropped the block, like one that says null.
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

/** What an index is bound to. Throws NodeError where the node does not keep its first block, which is a part of it. */
export function chainIdentity({ chainId, genesisHash }: NodeChain, { host }: NodeClient): ChainIdentity {
  if (genesisHash !== undefined) return { chainId, genesisHash };
  throw new NodeError('nonsense', `${host} does not give its first block, by which its chain is known`);
}

/** A node may not keep its first block: then its chain's number must do. */
export const isSameChain = (a: NodeChain, b: NodeChain): boolean =>
  a.chainId === b.chainId &&
  (a.genesisHash === undefined || b.genesisHash === undefined || a.genesisHash === b.genesisHash);

export const chainInWords = ({ chainId, genesisHash }: NodeChain): string =>
  `chain ${chainId}${genesisHash === undefined ? '' : ` with genesis ${genesisHash}`}`;
