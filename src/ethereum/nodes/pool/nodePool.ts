import { inBackground } from '../../../platform/background/index.ts';
import type { Slots } from '../../../platform/budgets/index.ts';
import type { ChainIdentity } from '../../traces/index.ts';
import { type Budget, NodeBudget, type NodeLimits } from '../client/nodeBudget.ts';
import { type CallOptions, NodeClient } from '../client/nodeClient.ts';
import { asNodeError, NodeError } from '../client/nodeError.ts';
import type { HedgedResponse, UpstreamRequest } from '../client/upstreamRequest.ts';
import { RelayedRequests } from '../dispatch/relayedRequests.ts';
import type { TraceLimits } from '../largeResponses/traceLimits.ts';
import type { NodeTraces } from '../tracing/nodeTraces.ts';
import { ChainCheck, OtherChainError } from './chainCheck.ts';
import { defaultFinality, type Finality } from './finality.ts';
import { HeadReader } from './headReader.ts';
import { type Claim, NetworkHeads } from './networkHeads.ts';
import { NodeChoice } from './nodeChoice.ts';
import { askBlockRef, askHeads, type HeadBlock, type NodeHeads } from './nodeHeads.ts';
import { NodePolls } from './nodePolls.ts';
import type { PoolObserver } from './poolObserver.ts';
import type { NodeRemoval, PoolState } from './poolState.ts';
import { RecoveryWait } from './recoveryWait.ts';
import { takesBlockHashes } from './supportsBlockHashes.ts';
import { UpstreamNode } from './upstreamNode.ts';

/** Time and size limits of a poll, which requests three blocks from a node. A healthy node stays below them. */
const POLL: CallOptions = { isPoll: true, timeoutMs: 2_000 };
export interface NodeOptions extends NodeLimits {
  readonly url: string;
}

export interface PoolOptions {
  readonly nodes: readonly NodeOptions[];
  readonly pollIntervalMs: number;
  /** Time for which a request waits for a node to recover if all are unhealthy. Default: 0. */
  readonly nodeWaitMs?: number;
  /** Chain that all nodes must be on. Default: the chain of the first node that responds. */
  readonly chain?: ChainIdentity | undefined;
  /** Rule that decides which blocks are final. Default: the result of `defaultFinality` for the chain. */
  readonly finality?: Finality | undefined;
  /** Limits of the requests for the traces of one block. */
  readonly traceLimits?: Partial<TraceLimits>;
  /** Number of processes that relay requests of clients to the nodes. Default: 1. */
  readonly processes?: number | undefined;
}

/** Access to another process that polls the nodes on behalf of this pool. */
export interface RemotePolls {
  /** Lets the other process poll a node now. Resolves after this pool has adopted the result. Never rejects. */
  poll(node: UpstreamNode): Promise<void>;
  /** Resolves after this pool has adopted the current state of the other process. Never rejects. */
  newest(): Promise<void>;
}

export interface PoolDependencies {
  readonly observer: PoolObserver;
  /** Called each time a node has answered a poll, after the pool has updated its heads. */
  readonly polled?: () => void;
  /** The process that polls the nodes; its results arrive through `adopt`. Default: this process polls. */
  readonly remotePolls?: RemotePolls | undefined;
  /** Creates the budget of a node; `place` is the node's index in the configuration. Default: a NodeBudget. */
  readonly budgetOf?: ((limits: NodeLimits, place: number) => Budget) | undefined;
  /** Creates the slots for traces at a node. Default: slots that no other process uses. */
  readonly traceSlotsOf?: ((place: number) => Slots) | undefined;
  /** Creates the client of a node. Default: an HTTP client. */
  readonly connect?: (node: NodeOptions, budget: Budget | undefined) => NodeClient;
}

/**
 * The nodes of one network, which relay and ingest share. Polls determine each node's heads and health, and from them
 * the head of the network. A failed trace request does not affect a node's health, because the node may still serve
 * other requests.
 */
export class NodePool {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly #observer: PoolObserver;
  readonly #polled: () => void;
  readonly #remotePolls: RemotePolls | undefined;
  readonly #chain: ChainCheck;
  readonly #choice: NodeChoice;
  readonly #polls: NodePolls;
  readonly #wait: RecoveryWait;
  readonly #headReader: HeadReader;
  readonly requests: RelayedRequests;
  readonly #headListeners: Array<(head: HeadBlock) => void> = [];
  readonly #stateListeners: Array<() => void> = [];

  constructor(options: PoolOptions, dependencies: PoolDependencies) {
    const { observer, polled, remotePolls, budgetOf, traceSlotsOf, connect } = dependencies;
    const { pollIntervalMs, nodeWaitMs = 0, chain, finality, traceLimits, processes } = options;
    const clientOf = connect ?? (({ url }, budget) => new NodeClient(url, { budget, processes }));
    this.#observer = observer;
    this.#polled = polled ?? (() => undefined);
    this.#remotePolls = remotePolls;
    this.nodes = options.nodes.map((nodeOptions, i) => {
      const counted = NodeBudget.of(nodeOptions);
      const client = clientOf(nodeOptions, counted && (budgetOf?.(nodeOptions, i) ?? counted));
      const node: UpstreamNode = new UpstreamNode(`node-${i + 1}`, client, {
        onMethodFound: (method, remarks) => observer.traceMethodFound(node, method, remarks),
        onInexactGas: (transactions) => observer.inexactGas(node, transactions),
        limits: traceLimits,
        traceSlots: traceSlotsOf?.(i),
      });
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
    this.#polls = new NodePolls(
      pollIntervalMs,
      remotePolls === undefined ? (node) => this.#poll(node) : (node) => remotePolls.poll(node),
    );
    this.#wait = new RecoveryWait(nodeWaitMs, () => {
      for (const node of this.nodes)
        if (node.health !== 'healthy') inBackground('poll of a node', () => this.refresh(node));
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
      withNode: (node, send) => this.take(node, send),
      updateHeads: () => this.#updateHeads(),
    });
  }

  get chainId(): string | undefined {
    return this.#chain.chainId;
  }

  /** True if the pool has one node only. That node alone defines the chain, so it also resolves the block tags. */
  get isSingle(): boolean {
    return this.nodes.length === 1;
  }

  /** True if another process polls the nodes. This pool learns of a new head later, by the latency of a message. */
  get isFollower(): boolean {
    return this.#remotePolls !== undefined;
  }

  get isAnyHealthy(): boolean {
    return this.nodes.some(({ health }) => health === 'healthy');
  }

  /** Registers a listener that is called with each new head. */
  onHead(listener: (head: HeadBlock) => void): void {
    this.#headListeners.push(listener);
  }

  /** Registers a listener for possible changes of `state`: after each poll, and when a node leaves rotation. */
  onState(listener: () => void): void {
    this.#stateListeners.push(listener);
  }

  /** Polls every node, then repeats the polls at `pollIntervalMs`. Does not reject if a node does not answer. */
  async start(): Promise<void> {
    if (this.isFollower) return;
    return this.#polls.start(this.nodes);
  }

  /**
   * Throws ChainMismatchError if the nodes that have answered are on different chains. If all of them are on an
   * unexpected chain, does not throw: the nodes are not used, and polls continue until one is on the expected chain.
   */
  assertSingleChain(): void {
    this.#chain.assertSingleChain(this.nodes);
  }

  async stop(): Promise<void> {
    this.#polls.stop();
    this.#wait.stop();
    await Promise.all(this.nodes.map(({ client }) => client.close()));
  }

  /** Takes a node out of rotation until it is resumed. Returns false if no other healthy node would be left. */
  drain(node: UpstreamNode): boolean {
    if (!this.nodes.some((other) => other !== node && other.health === 'healthy')) return false;
    node.drain();
    this.#updateHeads();
    this.#tellState();
    return true;
  }

  /** Chain, heads and nodes' health as the polls determined them, for another process that uses the same nodes. */
  get state(): PoolState {
    return {
      chain: this.#chain.expected,
      heads: this.heads.state,
      nodes: this.nodes.map(({ state }) => state),
    };
  }

  adopt({ chain, heads, nodes }: PoolState): void {
    this.#chain.adopt(chain);
    for (const [i, state] of nodes.entries()) this.nodes[i]?.adopt(state);
    this.heads.adopt(heads);
    for (const { heads: reported } of nodes)
      if (reported !== undefined) this.heads.nodeReached(reported.latest.number);
    if (this.isAnyHealthy) this.#wait.nodeRecovered();
  }

  /** Takes a node out of rotation because a process that leaves the polls to this pool has removed it. */
  removeFromRotation(node: UpstreamNode, why: NodeRemoval): void {
    if (node.health !== 'healthy') return;
    node.removeFromRotation(why);
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

  /** Returns the hash of the block at a height, from the first healthy node that has this block. */
  async blockHash(number: number): Promise<string | undefined> {
    for (const { client } of this.nodes.filter(({ health }) => health === 'healthy')) {
      const block = await askBlockRef(client, number, POLL).catch(() => undefined);
      if (block !== undefined) return block.hash;
    }
    return undefined;
  }

  /** Returns the first good response; see RelayedRequests.send. */
  ask(request: UpstreamRequest): Promise<HedgedResponse> {
    return this.requests.send(request);
  }

  /** If all nodes are unhealthy: resolves with true when one recovers, or with false after the configured wait. */
  waitForRecovery(): Promise<boolean> {
    return this.#wait.waitForRecovery(Number.POSITIVE_INFINITY, 0);
  }

  /** Returns the nodes in the order in which ingest tries them for a block. Default block: the head. */
  ingestOrder(blockNumber?: number): readonly UpstreamNode[] {
    return this.#choice.ingestOrder(blockNumber);
  }

  /** Verifies a node's chain, unless that is done, then runs `ask` with the node's traces. Rejects with NodeError. */
  async take<T>(node: UpstreamNode, ask: (traces: NodeTraces) => Promise<T>): Promise<T> {
    try {
      if (!node.isChainVerified) await this.#chain.verify(node, this.#headReader.patience);
      return await ask(node.traces);
    } catch (error) {
      if (error instanceof NodeError) {
        node.invalidateChain(error);
        if (error.reason === 'timeout') node.timedOut();
      }
      throw error;
    }
  }

  /** Requests the identity of the chain from the nodes; see ChainCheck.ask. Rejects with NodeError. */
  askChain(): Promise<ChainIdentity> {
    return this.#chain.ask(this.#choice.ingestOrder(undefined), this.#headReader.patience);
  }

  /** Returns the heads of the last polls; see HeadReader.last. Rejects with NodeError. */
  lastHeads(): Promise<NodeHeads> {
    return this.#headReader.last();
  }

  /** Heads of the last successful polls, even if no node answers now; undefined before the first one. */
  get knownHeads(): NodeHeads | undefined {
    // The heads of a single node are used unchanged; those of several nodes are merged. HeadReader does the same.
    return this.isSingle ? this.nodes[0]?.heads : this.heads.blocks;
  }

  /** Adopts the newest state of the process that polls the nodes. Resolves with true if that changed the head. */
  async catchUp(): Promise<boolean> {
    const before = this.heads.latest?.hash;
    await this.#remotePolls?.newest();
    return this.heads.latest?.hash !== before;
  }

  async freshHeads(): Promise<NodeHeads> {
    if (!this.isFollower) return this.#headReader.fresh();
    // In this process, only `adopt` changes the heads. Each refresh resolves after that.
    await Promise.all(this.#choice.headNodes().map((node) => this.refresh(node)));
    const heads = this.knownHeads;
    if (heads === undefined) throw new NodeError('unreachable', 'no node is available');
    return heads;
  }

  async #poll(node: UpstreamNode): Promise<void> {
    if (node.health === 'drained') return;
    const startMs = performance.now();
    try {
      const isAnew = !node.isChainVerified;
      if (isAnew) await this.#chain.verify(node, POLL);
      // The node was out of rotation, so other software may run at its address now: test EIP-1898 again.
      if (isAnew && node.health !== 'healthy') node.supportsBlockHashes = undefined;
      const heads = await askHeads(node.client, POLL);
      if (!this.isSingle && (isAnew || node.supportsBlockHashes === undefined))
        node.supportsBlockHashes = await takesBlockHashes(node.client, heads.latest, POLL);
      if (this.#polls.isStopped) return;
      const isBack = node.polled(heads, performance.now() - startMs);
      if (isBack) this.#observer.healthChanged(node, 'it answered a poll');
      this.#updateHeads();
      this.heads.nodeReached(heads.latest.number);
      if (node.health === 'healthy') this.#wait.nodeRecovered();
      this.#polled();
    } catch (error) {
      if (this.#polls.isStopped) return;
      node.lastPollSucceeded = false;
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
      .headNodes()
      .flatMap(({ name, heads }): Claim[] => (heads === undefined ? [] : [{ node: name, heads }]));
    this.heads.update(claims, performance.now());
  }
}
