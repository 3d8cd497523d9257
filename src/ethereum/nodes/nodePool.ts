import type { ChainIdentity } from '../traces/index.ts';
import { ChainCheck, OtherChainError } from './chainCheck.ts';
import { HedgeDelays } from './hedgeDelays.ts';
import { HedgedRequest, type Upstreams } from './hedgedRequest.ts';
import { type Claim, NetworkHeads } from './networkHeads.ts';
import { NodeChoice } from './nodeChoice.ts';
import type { CallOptions } from './nodeClient.ts';
import { asNodeError, NodeError } from './nodeError.ts';
import { askBlockRef, askHeads, type HeadBlock, type NodeHeads } from './nodeHeads.ts';
import { NodePolls } from './nodePolls.ts';
import type { NodeTraces } from './nodeTraces.ts';
import type { PoolObserver } from './poolObserver.ts';
import type { RequestFaultError } from './requestFault.ts';
import { takesBlockHashes } from './takesBlockHashes.ts';
import { UpstreamNode } from './upstreamNode.ts';
import type { HedgedResponse, UpstreamRequest } from './upstreamRequest.ts';

/** A node that needs longer for so little is not well, nor is one whose three blocks are larger. */
const POLL: CallOptions = { isPoll: true, timeoutMs: 2_000, maxBytes: 4 * 1024 * 1024 };
/** Where no node answers polls, whoever has time waits longer: with several nodes not very long, lest one that hangs holds it up. */
const PATIENT: CallOptions = { isPoll: true, timeoutMs: 5_000 };
const PATIENT_WITH_SINGLE: CallOptions = { isPoll: true, timeoutMs: 30_000 };
/** A request for a head that a node told of before it died waits so long for another node to get there. */
const HEAD_WAIT_MS = 3_000;

export interface PoolOptions {
  readonly urls: readonly string[];
  readonly pollIntervalMs: number;
  /** The chain that the nodes must be on; undefined where the first that answers decides. */
  readonly chain?: ChainIdentity | undefined;
}

export interface PoolDependencies {
  readonly observer: PoolObserver;
  /** A node has answered a poll; the heads are up to date with it. */
  readonly polled?: () => void;
}

/**
 * The nodes behind one network, for relay and ingest alike: each is polled once an interval for its heads, from which follow
 * its health and the network's head.
 *
 * Health is what polls and relayed requests make of it: what a node has no traces for it may still answer all else of.
 */
export class NodePool implements Upstreams {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly #observer: PoolObserver;
  readonly #polled: () => void;
  readonly #chain: ChainCheck;
  readonly #choice: NodeChoice;
  readonly #polls: NodePolls;
  readonly #hedgeDelays = new HedgeDelays();
  readonly #headListeners: Array<(head: HeadBlock) => void> = [];

  constructor({ urls, pollIntervalMs, chain }: PoolOptions, { observer, polled }: PoolDependencies) {
    this.#observer = observer;
    this.#polled = polled ?? (() => undefined);
    this.nodes = urls.map((url, i) => {
      const node: UpstreamNode = new UpstreamNode(`node-${i + 1}`, url, (method, remarks) =>
        observer.traceMethodFound(node, method, remarks),
      );
      return node;
    });
    this.heads = new NetworkHeads((head, before) => {
      if (before !== undefined && head.number < before.number) observer.headWentBack(before, head);
      for (const listener of this.#headListeners) listener(head);
    });
    this.#chain = new ChainCheck(chain, (node, reason) => observer.healthChanged(node, reason));
    this.#choice = new NodeChoice(this.nodes, this.heads);
    this.#polls = new NodePolls(pollIntervalMs, (node) => this.#poll(node));
  }

  /** The id of the nodes' chain as a quantity (`0x1`); undefined before any has told. */
  get chainId(): string | undefined {
    return this.#chain.chainId;
  }

  /** A single node is the authority on its own chain: tags are left to it. */
  get isSingle(): boolean {
    return this.nodes.length === 1;
  }

  /** Calls back with each new head. */
  onHead(listener: (head: HeadBlock) => void): void {
    this.#headListeners.push(listener);
  }

  /** Polls every node once, then goes on at its interval. One that does not answer is looked at when it does. */
  start(): Promise<void> {
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
    await Promise.all(this.nodes.map(({ client }) => client.close()));
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

  /**
   * The first good answer. Nodes are asked one after the other, the likely fastest first; a slow read is sent to a second
   * one meanwhile. Where no answer is good: the last that a node gave, or a rejection with NodeError.
   */
  async ask(request: UpstreamRequest): Promise<HedgedResponse> {
    const { needsBlock, timeoutMs, method, once } = request;
    if (needsBlock !== undefined && !this.#choice.canAnswer(needsBlock))
      if (this.nodes.some(({ health }) => health === 'healthy'))
        await this.heads.reaches(needsBlock, Math.min(HEAD_WAIT_MS, timeoutMs));
    const hedgeDelayMs = once || this.isSingle ? undefined : this.#hedgeDelays.delayMs(method);
    return new HedgedRequest(request, hedgeDelayMs, this).run();
  }

  choose(tried: ReadonlySet<UpstreamNode>, needsBlock: number | undefined): UpstreamNode | undefined {
    return this.#choice.best(tried, needsBlock);
  }

  answered(node: UpstreamNode, method: string, elapsedMs: number): void {
    node.answered(elapsedMs);
    this.#hedgeDelays.answered(method, elapsedMs);
    this.#observer.answered(node, method, elapsedMs);
  }

  failed(node: UpstreamNode, method: string, error: NodeError): void {
    const before = node.health;
    node.failed(error);
    this.#observer.failed(node, method, error);
    if (node.health !== before) this.#observer.healthChanged(node, error.message);
  }

  failedRequest(node: UpstreamNode, method: string, error: RequestFaultError): void {
    this.#observer.failed(node, method, error);
  }

  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void {
    node.quarantine();
    this.#observer.sentInvalidResponse(node, method, reason);
  }

  hedged(method: string): void {
    this.#observer.hedged(method);
  }

  /** The nodes in the order in which they are to be asked for a block to index, or for whatever is of the head. */
  inOrderFor(blockNumber?: number): readonly UpstreamNode[] {
    return this.#choice.inOrderFor(blockNumber);
  }

  /** Takes blocks from a node, once its chain was compared. Rejects with NodeError. */
  async take<T>(node: UpstreamNode, ask: (traces: NodeTraces) => Promise<T>): Promise<T> {
    try {
      if (!node.isChainVerified) await this.#chain.verify(node, this.#patience);
      return await ask(node.traces);
    } catch (error) {
      if (error instanceof NodeError) node.doubtChain(error);
      throw error;
    }
  }

  /** The chain of the nodes, asked for now; see ChainCheck.ask. Rejects with NodeError. */
  askChain(): Promise<ChainIdentity> {
    return this.#chain.ask(this.nodes, this.#patience);
  }

  /** The heads as of the last polls; where no node has answered its last one, asked for with patience. Rejects with NodeError. */
  async lastHeads(): Promise<NodeHeads> {
    return this.#headsHeard() ?? this.#askHeadsPatiently();
  }

  /** The heads, asked for now. Rejects with NodeError. */
  async freshHeads(): Promise<NodeHeads> {
    await Promise.all(this.#choice.claimants().map((node) => this.refresh(node)));
    return this.lastHeads();
  }

  #headsHeard(): NodeHeads | undefined {
    const heard = this.#choice.claimants().filter(({ isHeard }) => isHeard);
    // A single node's tags are its own, wherever they go; several are made one.
    return this.isSingle ? heard[0]?.heads : heard.length > 0 ? this.heads.blocks : undefined;
  }

  async #askHeadsPatiently(): Promise<NodeHeads> {
    const asked = this.nodes
      .filter(({ health }) => this.isSingle || health !== 'quarantined')
      .map((node) =>
        this.take(node, async () => {
          node.heads = await askHeads(node.client, this.#patience);
          node.isHeard = true;
        }),
      );
    const answers = await Promise.allSettled(asked);
    this.#updateHeads();
    const heads = this.#headsHeard();
    if (heads !== undefined) return heads;
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    throw failed?.reason ?? new NodeError('unreachable', 'no node can be asked now');
  }

  get #patience(): CallOptions {
    return this.isSingle ? PATIENT_WITH_SINGLE : PATIENT;
  }

  async #poll(node: UpstreamNode): Promise<void> {
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
      this.#polled();
    } catch (error) {
      if (this.#polls.isStopped) return;
      node.isHeard = false;
      if (!(error instanceof OtherChainError)) this.failed(node, 'poll', asNodeError(error));
    }
  }

  #updateHeads(): void {
    const claims = this.#choice
      .claimants()
      .flatMap(({ name, heads }): Claim[] => (heads === undefined ? [] : [{ node: name, heads }]));
    this.heads.update(claims, performance.now());
  }
}
