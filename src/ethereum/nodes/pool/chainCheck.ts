import type { ChainIdentity } from '../../traces/index.ts';
import type { CallOptions } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { askChain, chainIdentity, describeChain, isSameChain, type NodeChain } from './nodeChain.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** The nodes of one network are on different chains. The operator must correct the configuration. */
export class ChainMismatchError extends Error {
  override readonly name = 'ChainMismatchError';
}

/** A node is on another chain than expected, and is therefore not used. */
export class OtherChainError extends NodeError {}

/** Checks that all nodes are on the index's chain or, without an index, on that of the first node that responded. */
export class ChainCheck {
  readonly #indexed: NodeChain | undefined;
  readonly #mismatched: (node: UpstreamNode, reason: string) => void;
  #expected: NodeChain | undefined;
  #chainId: string | undefined;

  constructor(indexed: ChainIdentity | undefined, mismatched: (node: UpstreamNode, reason: string) => void) {
    this.#indexed = indexed;
    this.#mismatched = mismatched;
    if (indexed !== undefined) this.#expect(indexed);
  }

  /** Id of the expected chain in hexadecimal (`0x1`); undefined while that chain is not known. */
  get chainId(): string | undefined {
    return this.#chainId;
  }

  /** Chain that all nodes must be on; undefined while no index and no node has defined it. */
  get expected(): NodeChain | undefined {
    return this.#expected;
  }

  adopt(chain: NodeChain | undefined): void {
    if (chain !== undefined) this.#expect(chain);
  }

  /** Requests a node's chain. Rejects with OtherChainError if that is not the expected chain, or with NodeError. */
  async verify(node: UpstreamNode, options?: CallOptions): Promise<void> {
    const chain = await this.#ask(node, options);
    if (node.isChainVerified) return;
    throw new OtherChainError(
      'refused',
      `${node.client.host} is on ${describeChain(chain)}, the index and the other nodes are on ` +
        `${describeChain(this.#expected ?? chain)}: the node is not used`,
    );
  }

  /**
   * Requests the chains of the nodes. Returns the expected chain if a node is on it, otherwise the chain of the first
   * node that responded, so that the caller can compare it with its index. Rejects with NodeError.
   */
  async ask(nodes: readonly UpstreamNode[], options?: CallOptions): Promise<ChainIdentity> {
    const asked = nodes.map(async (node) => chainIdentity(await this.#ask(node, options), node.client));
    const answers = await Promise.allSettled(asked);
    const chains = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const expected = this.#expected;
    const chain = chains.find((one) => expected !== undefined && isSameChain(one, expected)) ?? chains[0];
    if (chain !== undefined) return chain;
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    throw failed?.reason ?? new NodeError('unreachable', 'no node is available');
  }

  /** Throws ChainMismatchError if some nodes are on the expected chain and others on another chain. */
  assertSingleChain(nodes: readonly UpstreamNode[]): void {
    const isAnyWrong = nodes.some(({ health }) => health === 'wrongChain');
    const isAnyRight = nodes.some(({ health, chain }) => health !== 'wrongChain' && chain !== undefined);
    if (!isAnyWrong || !isAnyRight) return;
    const reported = nodes.flatMap(({ client, chain }) =>
      chain === undefined ? [] : `${client.host} is on ${describeChain(chain)}`,
    );
    const indexed = this.#indexed && `; the index has ${describeChain(this.#indexed)}`;
    throw new ChainMismatchError(
      `the upstream nodes are on different chains: ${reported.join(', ')}${indexed ?? ''}. All nodes of a network must be on one chain`,
    );
  }

  /** Requests a node's chain and records at the node whether this is the expected chain. */
  async #ask(node: UpstreamNode, options: CallOptions | undefined): Promise<NodeChain> {
    const chain = await askChain(node.client, options);
    node.chain = chain;
    const expected = this.#expected ?? this.#expect(chain);
    node.isChainVerified = isSameChain(chain, expected);
    if (!node.isChainVerified && node.health !== 'wrongChain') {
      const reason = `it is on another chain, ${describeChain(chain)}; expected ${describeChain(expected)}`;
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
