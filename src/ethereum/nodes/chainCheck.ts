import type { ChainIdentity } from '../traces/index.ts';
import { askChain, chainIdentity, chainInWords, isSameChain, type NodeChain } from './nodeChain.ts';
import type { CallOptions } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** The nodes are on different chains, which is the operator's to mend. */
export class ChainMismatchError extends Error {
  override readonly name = 'ChainMismatchError';
}

/** A node is on another chain than it must be: it is never asked. */
export class OtherChainError extends NodeError {}

/**
 * Sees to it that all nodes of a network are on one chain: that of its index, or where it has none yet that of the first node
 * that tells.
 */
export class ChainCheck {
  readonly #indexed: NodeChain | undefined;
  /** Hears that a node was found to be on another chain. */
  readonly #mismatched: (node: UpstreamNode, reason: string) => void;
  #expected: NodeChain | undefined;
  #chainId: string | undefined;

  constructor(indexed: ChainIdentity | undefined, mismatched: (node: UpstreamNode, reason: string) => void) {
    this.#indexed = indexed;
    this.#mismatched = mismatched;
    if (indexed !== undefined) this.#expect(indexed);
  }

  /** The chain's id as a quantity (`0x1`); undefined while no chain is known. */
  get chainId(): string | undefined {
    return this.#chainId;
  }

  /** The chain that nodes must be on; undefined while none is known. */
  get expected(): NodeChain | undefined {
    return this.#expected;
  }

  /** Another process has found which chain this is. */
  follow(chain: NodeChain | undefined): void {
    if (chain !== undefined) this.#expect(chain);
  }

  /** Asks a node for its chain, and rejects with OtherChainError where it is another; with NodeError where it does not tell. */
  async verify(node: UpstreamNode, options?: CallOptions): Promise<void> {
    const chain = await this.#ask(node, options);
    if (node.isChainVerified) return;
    throw new OtherChainError(
      'refused',
      `${node.client.host} is on ${chainInWords(chain)}, the index and the other nodes are on ` +
        `${chainInWords(this.#expected ?? chain)}: it is never taken from`,
    );
  }

  /**
   * The chain of the nodes, asked for now. Where none of them is on the expected one, the chain of the first that answers:
   * whoever asked finds that it is another.
   */
  async ask(nodes: readonly UpstreamNode[], options?: CallOptions): Promise<ChainIdentity> {
    const asked = nodes.map(async (node) => chainIdentity(await this.#ask(node, options), node.client));
    const answers = await Promise.allSettled(asked);
    const chains = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const expected = this.#expected;
    const chain = chains.find((one) => expected !== undefined && isSameChain(one, expected)) ?? chains[0];
    if (chain !== undefined) return chain;
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    throw failed?.reason ?? new NodeError('unreachable', 'there is no node to ask');
  }

  /** Throws ChainMismatchError where of the nodes that have told their chains some are on the right one and others are not. */
  refuseMixture(nodes: readonly UpstreamNode[]): void {
    const isAnyWrong = nodes.some(({ health }) => health === 'wrongChain');
    const isAnyRight = nodes.some(({ health, chain }) => health !== 'wrongChain' && chain !== undefined);
    if (!isAnyWrong || !isAnyRight) return;
    const told = nodes.flatMap(({ client, chain }) =>
      chain === undefined ? [] : `${client.host} is on ${chainInWords(chain)}`,
    );
    const indexed = this.#indexed && `; the index is of ${chainInWords(this.#indexed)}`;
    throw new ChainMismatchError(
      `the upstream nodes are on different chains: ${told.join(', ')}${indexed ?? ''}. Name nodes of one chain a network`,
    );
  }

  /** The chain that a node is on; notes whether it is the right one. */
  async #ask(node: UpstreamNode, options: CallOptions | undefined): Promise<NodeChain> {
    const chain = await askChain(node.client, options);
    node.chain = chain;
    const expected = this.#expected ?? this.#expect(chain);
    node.isChainVerified = isSameChain(chain, expected);
    if (!node.isChainVerified && node.health !== 'wrongChain') {
      const reason = `it is on another chain, ${chainInWords(chain)}; expected ${chainInWords(expected)}`;
      node.isOnWrongChain(reason);
      this.#mismatched(node, reason);
    }
    return chain;
  }

  #expect(chain: NodeChain): NodeChain {
    this.#expected = chain;
    this.#chainId = `0x${chain.chainId.toString(16)}`;
    return chain;
  }
}
