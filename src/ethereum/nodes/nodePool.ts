import { Latencies } from './latencies.ts';
import { NetworkHeads } from './networkHeads.ts';
import { type Standing, UpstreamNode } from './node.ts';
import { askBlockHash, askChain, askEnds, askTakesHashes, type Block, type Chain } from './nodePoll.ts';
import { type Answered, asNodeError, type PoolObserver, type Question } from './question.ts';
import { Race } from './race.ts';
import type { RequestFaultError } from './requestFault.ts';
import type { NodeError } from './source.ts';

/** A read is sent to a second node when it takes longer than this share of recent ones did. */
const HEDGE_QUANTILE = 0.95;
/** Below, a second request costs more than it saves. */
const MIN_HEDGE_MS = 20;
/** Where nothing is known of a method yet, and at most. */
const MAX_HEDGE_MS = 1_000;
/** A request for a head that a node told of before it died waits so long for another node to get there. */
const HEAD_WAIT_MS = 3_000;
/** Behind the head by more, a node is asked only where no other is left. */
const MAX_LAG_BLOCKS = 8;

export interface PoolOptions {
  readonly urls: readonly string[];
  readonly pollIntervalMs: number;
  /** The chain that the nodes must be on; undefined where the first that answers decides. */
  readonly chain?: Chain | undefined;
  readonly observer: PoolObserver;
  /** Called with each new head. */
  readonly headChanged: (head: Block) => void;
  /** A node has answered a poll; the heads are up to date with it. */
  readonly polled: () => void;
}

/** The nodes are on different chains, which is the operator's to mend. */
export class ChainMismatchError extends Error {
  override readonly name = 'ChainMismatchError';
}

/** The nodes behind one network: which are well, which has what, who is asked. */
export class NodePool {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly #options: PoolOptions;
  readonly #latencies = new Map<string, Latencies>();
  readonly #timers = new Map<UpstreamNode, NodeJS.Timeout>();
  /** Refreshes that run, and those that wait for them to end. */
  readonly #polls = new Map<UpstreamNode, Promise<void>>();
  readonly #nextPolls = new Map<UpstreamNode, Promise<void>>();
  #chain: Chain | undefined;
  #stopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#chain = options.chain;
    this.nodes = options.urls.map((url, i) => new UpstreamNode(`node-${i + 1}`, url));
    this.heads = new NetworkHeads((head, before) => {
      if (before !== undefined && head.number < before.number) options.observer.headWentBack(before, head);
      options.headChanged(head);
    });
  }

  /** The chain that the nodes are on; undefined before any has told. */
  get chain(): Chain | undefined {
    return this.#chain;
  }

  /** A single node is the authority on its own chain: tags are left to it. */
  get isSingle(): boolean {
    return this.nodes.length === 1;
  }

  /**
   * Polls every node once, then goes on at its interval. Throws ChainMismatchError where nodes that answer are on
   * different chains; one that does not answer is looked at when it does. Where all that answer are on another chain than
   * the one that they must be on, nothing is thrown: none of them is asked, until there is one that is right.
   */
  async start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.#poll(node)));
    const foreign = this.nodes.find(({ standing }) => standing === 'foreign');
    const isAnyOurs = this.nodes.some(({ standing, chain }) => standing !== 'foreign' && chain !== undefined);
    if (foreign !== undefined && isAnyOurs)
      throw new ChainMismatchError(
        `the upstream nodes are on different chains: ${this.nodes
          .flatMap(({ connection, chain }) => (chain ? `${connection.host} is on ${inWords(chain)}` : []))
          .join(
            ', ',
          )}${this.#options.chain ? `; the index is of ${inWords(this.#options.chain)}` : ''}. Name nodes of one ` +
          'chain a network',
      );
    for (const node of this.nodes) this.#schedule(node);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.nodes.map(({ connection }) => connection.close()));
  }

  /**
   * Asks a node anew for its head. Those who ask while a poll runs share the next one: what they know of may be younger
   * than the answer that is on its way.
   */
  refresh(node: UpstreamNode): Promise<void> {
    const waiting = this.#nextPolls.get(node);
    if (waiting !== undefined) return waiting;
    const next = (this.#polls.get(node) ?? Promise.resolve()).then(() => {
      this.#nextPolls.delete(node);
      const poll = this.#poll(node);
      this.#polls.set(node, poll);
      return poll;
    });
    this.#nextPolls.set(node, next);
    return next;
  }

  /** The hash of a block by the first node in good standing that has it. */
  async blockHash(number: number): Promise<string | undefined> {
    for (const node of this.nodes.filter(({ standing }) => standing === 'good')) {
      const hash = await askBlockHash(node.connection, number).catch(() => undefined);
      if (hash !== undefined) return hash;
    }
    return undefined;
  }

  /**
   * The first good answer. Nodes are asked one after the other, the likely fastest first; a slow read is sent to a second
   * one meanwhile. Where no answer is good: the last that a node gave, or a rejection with NodeError.
   */
  async ask(question: Question): Promise<Answered> {
    const { needsBlock } = question;
    if (needsBlock !== undefined && !this.nodes.some((node) => this.#canAnswer(node, needsBlock)))
      if (this.nodes.some(({ standing }) => standing === 'good'))
        await this.heads.reaches(needsBlock, Math.min(HEAD_WAIT_MS, question.timeoutMs));
    return new Race(this, question, this.#options.observer, this.#hedgeDelayMs(question)).run();
  }

  /** The best node that has not been tried; undefined where there is none. */
  choose(tried: ReadonlySet<UpstreamNode>, needsBlock: number | undefined): UpstreamNode | undefined {
    let best: UpstreamNode | undefined;
    let bestCost = Number.POSITIVE_INFINITY;
    for (const node of this.nodes) {
      if (tried.has(node) || NEVER_ASKED.has(node.standing)) continue;
      const cost = this.#costOf(node, needsBlock);
      if (cost >= bestCost) continue;
      best = node;
      bestCost = cost;
    }
    return best;
  }

  /** For a race: a node has answered. */
  answered(node: UpstreamNode, method: string, elapsedMs: number): void {
    node.answered(elapsedMs);
    this.#latenciesOf(method).add(elapsedMs);
    this.#options.observer.answered(node, method, elapsedMs);
  }

  /** For a race: a node has failed. */
  failed(node: UpstreamNode, method: string, error: NodeError): void {
    const before = node.standing;
    node.failed(error);
    this.#options.observer.failed(node, method, error);
    if (node.standing !== before) this.#options.observer.standing(node, error.message);
  }

  /** A request has failed at a node by its own fault: nothing is held against the node. */
  failedRequest(node: UpstreamNode, method: string, error: RequestFaultError): void {
    this.#options.observer.failed(node, method, error);
  }

  /** For a race: a node was caught with an answer that cannot be true. */
  lied(node: UpstreamNode, method: string, falsehood: string): void {
    node.lied();
    this.#options.observer.lied(node, method, falsehood);
  }

  #canAnswer(node: UpstreamNode, needsBlock: number): boolean {
    return node.standing === 'good' && this.#has(node, needsBlock);
  }

  /** A node on another fork has other blocks at the same heights: only what is final is the same on all. */
  #has({ ends }: UpstreamNode, block: number): boolean {
    if (ends === undefined || ends.latest.number < block) return false;
    return block <= (this.heads.finalized ?? -1) || this.isSingle || this.heads.isOnChain(ends);
  }

  #costOf(node: UpstreamNode, needsBlock: number | undefined): number {
    const has = needsBlock === undefined || this.#has(node, needsBlock);
    const lags = (this.heads.latest?.number ?? 0) - (node.ends?.latest.number ?? -1) > MAX_LAG_BLOCKS;
    if (node.standing !== 'good') return (has ? 2 : 3) * TIER + node.expectedMs;
    // A node that has not reached a block would answer that there is none, or with another chain's.
    if (!has) return Number.POSITIVE_INFINITY;
    return (lags ? TIER : 0) + node.expectedMs;
  }

  #hedgeDelayMs({ method, once }: Question): number | undefined {
    if (once || this.isSingle) return undefined;
    const usual = this.#latenciesOf(method).quantile(HEDGE_QUANTILE) ?? MAX_HEDGE_MS;
    return Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, usual));
  }

  #latenciesOf(method: string): Latencies {
    let latencies = this.#latencies.get(method);
    if (latencies === undefined) {
      latencies = new Latencies();
      this.#latencies.set(method, latencies);
    }
    return latencies;
  }

  #schedule(node: UpstreamNode): void {
    if (this.#stopped) return;
    const timer = setTimeout(async () => {
      await this.#poll(node);
      this.#schedule(node);
    }, this.#options.pollIntervalMs);
    this.#timers.set(node, timer);
  }

  async #poll(node: UpstreamNode): Promise<void> {
    const startMs = performance.now();
    try {
      if (node.mustTellChain && !(await this.#tellsOurChain(node))) return;
      const ends = await askEnds(node.connection);
      // The client may be another each time that the chain had to be told.
      if (!this.isSingle) node.takesHashes ??= await askTakesHashes(node.connection, ends.latest);
      if (this.#stopped) return;
      const back = node.polled(ends, performance.now() - startMs);
      if (back) this.#options.observer.standing(node, 'it answers');
      this.heads.update(this.#claims(), performance.now());
      this.heads.nodeReached(ends.latest.number);
      this.#options.polled();
    } catch (error) {
      if (this.#stopped) return;
      this.failed(node, 'poll', asNodeError(error));
    }
  }

  #claims(): Array<{ node: string; ends: NonNullable<UpstreamNode['ends']> }> {
    return this.nodes.flatMap(({ name, standing, ends }) =>
      standing === 'good' && ends !== undefined ? [{ node: name, ends }] : [],
    );
  }

  /** Where nobody has said which chain it must be, the first node that answers does; nobody else's may differ. */
  async #tellsOurChain(node: UpstreamNode): Promise<boolean> {
    const chain = await askChain(node.connection);
    node.chain = chain;
    node.takesHashes = undefined;
    this.#chain ??= chain;
    if (isSame(chain, this.#chain)) return true;
    if (node.standing !== 'foreign') {
      node.foreign();
      this.#options.observer.standing(
        node,
        `it is on another chain, ${inWords(chain)}; expected ${inWords(this.#chain)}`,
      );
    }
    return false;
  }
}

/** A node may not keep its first block: then its chain's number must do. */
const isSame = (a: Chain, b: Chain): boolean =>
  Number(a.chainId) === Number(b.chainId) &&
  (a.genesisHash === undefined || b.genesisHash === undefined || a.genesisHash === b.genesisHash);

const inWords = ({ chainId, genesisHash }: Chain): string =>
  `chain ${Number(chainId)}${genesisHash === undefined ? '' : ` with genesis ${genesisHash}`}`;

/** Its chain is not known, or it cannot be trusted. */
const NEVER_ASKED: ReadonlySet<Standing> = new Set<Standing>(['unknown', 'lying', 'foreign']);

/** Kinds of nodes, each asked only where none of the kind before is left; within a kind the fastest is asked. */
const TIER = 1e9;
