import type { ChainIdentity } from '../../traces/index.ts';
import type { CallOptions } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { askChain, chainIdentity, describeChain, isSameChain, type NodeChain } from './nodeChain.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** The nodes are on different chains; the operator must correct the configuration. */
export class ChainMismatchError extends Error {
  override readonly name = 'ChainMismatchError';
}

/** A node is on another chain than expected. It is never used. */
export class OtherChainError extends NodeError {}

/** Checks that all nodes are on one chain: that of the index or, without an index, of the first node to respond. */
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

  /** Chain id as a quantity (`0x1`); undefined while no chain is known. */
  get chainId(): string | undefined {
    return this.#chainId;
  }

  /** Chain that all nodes must have; undefined while none is known. */
  get expected(): NodeChain | undefined {
    return this.#expected;
  }

  adopt(chain: NodeChain | undefined): void {
    if (chain !== undefined) this.#expect(chain);
  }

  /** Requests a node's chain. Rejects with OtherChainError, or with NodeError if the node does not respond. */
  async verify(node: UpstreamNode, options?: CallOptions): Promise<void> {
    const chain = await this.#ask(node, options);
    if (node.isChainVerified) return;
    throw new OtherChainError(
      'refused',
      `${node.client.host} is on ${describeChain(chain)}, the index and the other nodes are on ` +
        `${describeChain(this.#expected ?? chain)}: the node is not used`,
    );
  }

  /** Requests the nodes' chains. Returns the expected chain or, if no node is on it, the first, for comparison. */
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

  /** Throws ChainMismatchError if some of the nodes with a known chain are on the expected one and others are not. */
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

  /** Requests a node's chain and records whether it is the expected one. */
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
