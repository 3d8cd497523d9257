import type { CallOptions } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import type { NetworkHeads } from './networkHeads.ts';
import type { NodeChoice } from './nodeChoice.ts';
import { askHeads, type NodeHeads } from './nodeHeads.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Longer timeouts of head requests, for callers that can wait if all polls failed: with several nodes, with one. */
const PATIENT: CallOptions = { isPoll: true, timeoutMs: 5_000 };
const PATIENT_WITH_SINGLE: CallOptions = { isPoll: true, timeoutMs: 30_000 };

export interface HeadReaderDependencies {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly choice: NodeChoice;
  refresh(node: UpstreamNode): Promise<void>;
  /** Verifies the node's chain, then runs `ask`. */
  withNode(node: UpstreamNode, ask: () => Promise<void>): Promise<void>;
  updateHeads(): void;
}

/** Reads the heads of all nodes, for callers that can wait for a response. */
export class HeadReader {
  readonly #dependencies: HeadReaderDependencies;

  constructor(dependencies: HeadReaderDependencies) {
    this.#dependencies = dependencies;
  }

  get patience(): CallOptions {
    return this.#isSingle ? PATIENT_WITH_SINGLE : PATIENT;
  }

  /** Returns the heads of the last polls. If all failed, requests heads with more time. Rejects with NodeError. */
  async last(): Promise<NodeHeads> {
    return this.#heard() ?? this.#askPatiently();
  }

  /** Polls the nodes and returns their heads. Rejects with NodeError. */
  async fresh(): Promise<NodeHeads> {
    const { choice, refresh } = this.#dependencies;
    await Promise.all(choice.headNodes().map((node) => refresh(node)));
    return this.last();
  }

  get #isSingle(): boolean {
    return this.#dependencies.nodes.length === 1;
  }

  #heard(): NodeHeads | undefined {
    const { choice, heads } = this.#dependencies;
    const heard = choice.headNodes().filter(({ lastPollSucceeded }) => lastPollSucceeded);
    // The heads of a single node are used unchanged; those of several nodes are merged.
    return this.#isSingle ? heard[0]?.heads : heard.length > 0 ? heads.blocks : undefined;
  }

  async #askPatiently(): Promise<NodeHeads> {
    const { nodes, withNode, updateHeads } = this.#dependencies;
    const asked = nodes
      .filter(({ health }) => health !== 'drained' && (this.#isSingle || health !== 'quarantined'))
      .map((node) =>
        withNode(node, async () => {
          node.heads = await askHeads(node.client, this.patience);
          node.lastPollSucceeded = true;
        }),
      );
    const answers = await Promise.allSettled(asked);
    updateHeads();
    const heads = this.#heard();
    if (heads !== undefined) return heads;
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    throw failed?.reason ?? new NodeError('unreachable', 'no node is available');
  }
}
