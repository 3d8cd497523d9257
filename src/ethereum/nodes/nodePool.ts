import type { ChainIdentity } from '../traces/index.ts';
import { ChainCheck, OtherChainError } from './chainCheck.ts';
import { defaultFinality, type Finality } from './finality.ts';
import { HeadReader } from './headReader.ts';
import { type Claim, NetworkHeads } from './networkHeads.ts';
import { type Budget, NodeBudget, type NodeLimits } from './nodeBudget.ts';
import { NodeChoice } from './nodeChoice.ts';
import { type CallOptions, NodeClient } from './nodeClient.ts';
import { asNodeError, NodeError } from './nodeError.ts';
import { askBlockRef, askHeads, type HeadBlock, type NodeHeads } from './nodeHeads.ts';
import { NodePolls } from './nodePolls.ts';
import type { NodeTraces } from './nodeTraces.ts';
import { NodeWait } from './nodeWait.ts';
import type { PoolObserver } from './poolObserver.ts';
import type { PoolState, SetAside } from './poolState.ts';
import { RelayedRequests } from './relayedRequests.ts';
import { takesBlockHashes } from './takesBlockHashes.ts';
import { UpstreamNode } from './upstreamNode.ts';
import type { HedgedResponse, UpstreamRequest } from './upstreamRequest.ts';

/** A node that needs longer for so little is not well, nor is one whose three blocks are larger. */
const POLL: CallOptions = { isPoll: true, timeoutMs: 2_000, maxBytes: 4 * 1024 * 1024 };
/** Where a node is, and what it may be asked for. */
export interface NodeOptions extends NodeLimits {
  readonly url: string;
}

export interface PoolOptions {
  readonly nodes: readonly NodeOptions[];
  readonly pollIntervalMs: number;
  /** How long a request waits for a node to come back where all are away; left out: not at all. */
  readonly nodeWaitMs?: number;
  /** The chain that the nodes must be on; undefined where the first that answers decides. */
  readonly chain?: ChainIdentity | undefined;
  /** Which blocks count as final; left out: what is usual on the chain. */
  readonly finality?: Finality | undefined;
}

export interface PoolDependencies {
  readonly observer: PoolObserver;
  /** A node has answered a poll; the heads are up to date with it. */
  readonly polled?: () => void;
  /**
   * Another process polls the nodes: has it poll one now. What it finds comes with `follow`. Left out: they are polled here.
   */
  readonly pollElsewhere?: ((node: UpstreamNode) => Promise<void>) | undefined;
  /** Another process has the budgets: that of a node which has limits, by its place. Left out: they are counted here. */
  readonly budgetOf?: ((limits: NodeLimits, place: number) => Budget) | undefined;
  /** A node's client; left out: one over HTTP. */
  readonly connect?: (node: NodeOptions, budget: Budget | undefined) => NodeClient;
}

/**
 * The nodes behind one network, for relay and ingest alike: each is polled once an interval for its heads, from which follow
 * its health and the network's head.
 *
 * Health is what polls and relayed requests make of it: what a node has no traces for it may still answer all else of.
 */
export class NodePool {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly #observer: PoolObserver;
  readonly #polled: () => void;
  readonly #isFollower: boolean;
  readonly #chain: ChainCheck;
  readonly #choice: NodeChoice;
  readonly #polls: NodePolls;
  readonly #wait: NodeWait;
  readonly #headReader: HeadReader;
  /** What clients ask of the nodes. */
  readonly requests: RelayedRequests;
  readonly #headListeners: Array<(head: HeadBlock) => void> = [];
  readonly #stateListeners: Array<() => void> = [];

  constructor(options: PoolOptions, dependencies: PoolDependencies) {
    const { observer, polled, pollElsewhere, budgetOf, connect } = dependencies;
    const { pollIntervalMs, nodeWaitMs = 0, chain, finality } = options;
    const clientOf = connect ?? (({ url }, budget) => new NodeClient(url, budget));
    this.#observer = observer;
    this.#polled = polled ?? (() => undefined);
    this.#isFollower = pollElsewhere !== undefined;
    this.nodes = options.nodes.map((nodeOptions, i) => {
      const counted = NodeBudget.of(nodeOptions);
      const client = clientOf(nodeOptions, counted && (budgetOf?.(nodeOptions, i) ?? counted));
      const node: UpstreamNode = new UpstreamNode(`node-${i + 1}`, client, (method, remarks) =>
        observer.traceMethodFound(node, method, remarks),
      );
      return node;
    });
    this.heads = new NetworkHeads(
      (head, before) => {
        if (before !== undefined && head.number < before.number) observer.headWentBack(before, head);
        for (const listener of this.#headListeners) listener(head);
      },
      finality === undefined ? () => defaultFinality(Number(this.chainId)) : () => finality,
    );
    this.#chain = new ChainCheck(chain, (node, reason) => observer.healthChanged(node, reason));
    this.#choice = new NodeChoice(this.nodes, this.heads);
    this.#polls = new NodePolls(pollIntervalMs, pollElsewhere ?? ((node) => this.#poll(node)));
    this.#wait = new NodeWait(nodeWaitMs, () => {
      for (const node of this.nodes) if (node.health !== 'healthy') void this.refresh(node);
    });
    this.requests = new RelayedRequests({
      nodes: this.nodes,
      heads: this.heads,
      choice: this.#choice,
      wait: this.#wait,
      budgetWaitMs: nodeWaitMs,
      observer,
      refresh: (node) => this.refresh(node),
    });
    this.#headReader = new HeadReader({
      nodes: this.nodes,
      heads: this.heads,
      choice: this.#choice,
      refresh: (node) => this.refresh(node),
      take: (node, ask) => this.take(node, ask),
      updateHeads: () => this.#updateHeads(),
    });
  }

  /** The id of the nodes' chain as a quantity (`0x1`); undefined before any has told. */
  get chainId(): string | undefined {
    return this.#chain.chainId;
  }

  /** A single node is the authority on its own chain: tags are left to it. */
  get isSingle(): boolean {
    return this.nodes.length === 1;
  }

  get isAnyHealthy(): boolean {
    return this.nodes.some(({ health }) => health === 'healthy');
  }

  /** Calls back with each new head. */
  onHead(listener: (head: HeadBlock) => void): void {
    this.#headListeners.push(listener);
  }

  /** Calls back where `state` may be another: after each poll, and where a node is set aside. */
  onState(listener: () => void): void {
    this.#stateListeners.push(listener);
  }

  /** Polls every node once, then goes on at its interval. One that does not answer is looked at when it does. */
  async start(): Promise<void> {
    if (this.#isFollower) return;
    return this.#polls.start(this.nodes);
  }

  /**
   * Throws ChainMismatchError where nodes that have answered are on different chains. Where all that have are on another
   * chain than they must be on, nothing is thrown: none of them is asked, until there is one that is right.
   */
  refuseChainMixture(): void {
    this.#chain.refuseMixture(this.nodes);
  }

  async stop(): Promise<void> {
    this.#polls.stop();
    this.#wait.stop();
    await Promise.all(this.nodes.map(({ client }) => client.close()));
  }

  /** Sets a node aside until it is put back. Returns false, and does nothing, where no other healthy one would be left. */
  drain(node: UpstreamNode): boolean {
    if (!this.nodes.some((other) => other !== node && other.health === 'healthy')) return false;
    node.drain();
    this.#updateHeads();
    this.#tellState();
    return true;
  }

  /** What the polls have found, for another process that asks the same nodes. */
  get state(): PoolState {
    return {
      chain: this.#chain.expected,
      heads: this.heads.state,
      nodes: this.nodes.map(({ state }) => state),
    };
  }

  /** Becomes what the polls of another process have found. */
  follow({ chain, heads, nodes }: PoolState): void {
    this.#chain.follow(chain);
    for (const [i, state] of nodes.entries()) this.nodes[i]?.follow(state);
    this.heads.follow(heads);
    for (const { heads: told } of nodes) if (told !== undefined) this.heads.nodeReached(told.latest.number);
    if (this.isAnyHealthy) this.#wait.nodeIsBack();
  }

  /** A process that follows this pool has taken a node out of rotation. */
  setAside(node: UpstreamNode, why: SetAside): void {
    if (node.health !== 'healthy') return;
    node.setAside(why);
    this.#observer.healthChanged(node, why.reason);
    this.#updateHeads();
    this.#tellState();
  }

  resume(node: UpstreamNode): Promise<void> {
    node.resume();
    return this.refresh(node);
  }

  refresh(node: UpstreamNode): Promise<void> {
    return this.#polls.refresh(node);
  }

  /** The hash of a block by the first healthy node that has it. */
  async blockHash(number: number): Promise<string | undefined> {
    for (const { client } of this.nodes.filter(({ health }) => health === 'healthy')) {
      const block = await askBlockRef(client, number, POLL).catch(() => undefined);
      if (block !== undefined) return block.hash;
    }
    return undefined;
  }

  /** The first good answer; see RelayedRequests.ask. */
  ask(request: UpstreamRequest): Promise<HedgedResponse> {
    return this.requests.ask(request);
  }

  /** Where all nodes are away: resolves with whether one comes back within the time that requests wait. */
  comesBack(): Promise<boolean> {
    return this.#wait.comesBack(Number.POSITIVE_INFINITY, 0);
  }

  /** The nodes in the order in which they are to be asked for a block to index, or for whatever is of the head. */
  inOrderFor(blockNumber?: number): readonly UpstreamNode[] {
    return this.#choice.inOrderFor(blockNumber);
  }

  /** Takes blocks from a node, once its chain was compared. Rejects with NodeError. */
  async take<T>(node: UpstreamNode, ask: (traces: NodeTraces) => Promise<T>): Promise<T> {
    try {
      if (!node.isChainVerified) await this.#chain.verify(node, this.#headReader.patience);
      return await ask(node.traces);
    } catch (error) {
      if (error instanceof NodeError) node.doubtChain(error);
      throw error;
    }
  }

  /** The chain of the nodes, asked for now; see ChainCheck.ask. Rejects with NodeError. */
  askChain(): Promise<ChainIdentity> {
    return this.#chain.ask(this.#choice.inOrderFor(undefined), this.#headReader.patience);
  }

  /** The heads as of the last polls; where no node has answered its last one, asked for with patience. Rejects with NodeError. */
  lastHeads(): Promise<NodeHeads> {
    return this.#headReader.last();
  }

  /** The heads as they were last heard of, whether or not a node answers now; undefined before that. */
  get knownHeads(): NodeHeads | undefined {
    // As in HeadReader: a single node's are its own.
    return this.isSingle ? this.nodes[0]?.heads : this.heads.blocks;
  }

  /** The heads, asked for now. Rejects with NodeError. */
  async freshHeads(): Promise<NodeHeads> {
    if (!this.#isFollower) return this.#headReader.fresh();
    // The heads are changed by `follow` alone, at the same moment in each process.
    await Promise.all(this.#choice.claimants().map((node) => this.refresh(node)));
    const heads = this.knownHeads;
    if (heads === undefined) throw new NodeError('unreachable', 'no node can be asked now');
    return heads;
  }

  async #poll(node: UpstreamNode): Promise<void> {
    if (node.health === 'drained') return;
    const startMs = performance.now();
    try {
      const isAnew = !node.isChainVerified;
      if (isAnew) await this.#chain.verify(node, POLL);
      // The client may be another each time that the chain had to be told.
      if (isAnew && node.health !== 'healthy') node.takesHashes = undefined;
      const heads = await askHeads(node.client, POLL);
      if (!this.isSingle && (isAnew || node.takesHashes === undefined))
        node.takesHashes = await takesBlockHashes(node.client, heads.latest, POLL);
      if (this.#polls.isStopped) return;
      const isBack = node.polled(heads, performance.now() - startMs);
      if (isBack) this.#observer.healthChanged(node, 'it answers');
      this.#updateHeads();
      this.heads.nodeReached(heads.latest.number);
      if (node.health === 'healthy') this.#wait.nodeIsBack();
      this.#polled();
    } catch (error) {
      if (this.#polls.isStopped) return;
      node.isHeard = false;
      if (!(error instanceof OtherChainError)) this.requests.failed(node, 'poll', asNodeError(error));
    } finally {
      this.#tellState();
    }
  }

  #tellState(): void {
    for (const listener of this.#stateListeners) listener();
  }

  #updateHeads(): void {
    const claims = this.#choice
      .claimants()
      .flatMap(({ name, heads }): Claim[] => (heads === undefined ? [] : [{ node: name, heads }]));
    this.heads.update(claims, performance.now());
  }
}
