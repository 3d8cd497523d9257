import type { NetworkHeads } from './networkHeads.ts';
import type { NodeChoice } from './nodeChoice.ts';
import type { CallOptions } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { askHeads, type NodeHeads } from './nodeHeads.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Where no node answers polls, whoever has time waits longer: with several nodes not very long, lest one that hangs holds it up. */
const PATIENT: CallOptions = { isPoll: true, timeoutMs: 5_000 };
const PATIENT_WITH_SINGLE: CallOptions = { isPoll: true, timeoutMs: 30_000 };

export interface HeadReaderDependencies {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly choice: NodeChoice;
  refresh(node: UpstreamNode): Promise<void>;
  /** Asks a node once its chain was compared. */
  take(node: UpstreamNode, ask: () => Promise<void>): Promise<void>;
  updateHeads(): void;
}

/** The heads of all nodes together, for those who have time to wait for them. */
export class HeadReader {
  readonly #dependencies: HeadReaderDependencies;

  constructor(dependencies: HeadReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** How long a node is waited for. */
  get patience(): CallOptions {
    return this.#isSingle ? PATIENT_WITH_SINGLE : PATIENT;
  }

  /** As of the last polls; where no node has answered its last one, asked for with patience. Rejects with NodeError. */
  async last(): Promise<NodeHeads> {
    return this.#heard() ?? this.#askPatiently();
  }

  /** Asked for now. Rejects with NodeError. */
  async fresh(): Promise<NodeHeads> {
    const { choice, refresh } = this.#dependencies;
    await Promise.all(choice.claimants().map((node) => refresh(node)));
    return this.last();
  }

  get #isSingle(): boolean {
    return this.#dependencies.nodes.length === 1;
  }

  #heard(): NodeHeads | undefined {
    const { choice, heads } = this.#dependencies;
    const heard = choice.claimants().filter(({ isHeard }) => isHeard);
    // A single node's tags are its own, wherever they go; several are made one.
    return this.#isSingle ? heard[0]?.heads : heard.length > 0 ? heads.blocks : undefined;
  }

  async #askPatiently(): Promise<NodeHeads> {
    const { nodes, take, updateHeads } = this.#dependencies;
    const asked = nodes
      .filter(({ health }) => health !== 'drained' && (this.#isSingle || health !== 'quarantined'))
      .map((node) =>
        take(node, async () => {
          node.heads = await askHeads(node.client, this.patience);
          node.isHeard = true;
        }),
      );
    const answers = await Promise.allSettled(asked);
    updateHeads();
    const heads = this.#heard();
    if (heads !== undefined) return heads;
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    throw failed?.reason ?? new NodeError('unreachable', 'no node can be asked now');
  }
}
