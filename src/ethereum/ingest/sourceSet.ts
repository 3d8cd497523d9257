import {
  type BlockRef,
  NodeError,
  type NodeHeads,
  type TracedBlock,
  type TraceSource,
  type TransactionFinder,
} from '../nodes/index.ts';
import type { Awaitable, ChainIdentity, Hash } from '../traces/index.ts';

/** A node that did not answer for its head is left alone for so long, where another one does. */
const REST_MS = 5_000;

/** A node that hangs must not keep the others' head or chain from being heard. */
const ANSWER_TIMEOUT_MS = 5_000;

/** What is too large at two nodes is so at all: it is not taken in from each of them. */
const MAX_OVERSIZED_ANSWERS = 2;

/** One node of a set. */
export interface SourceMember {
  /** How logs name it. */
  readonly name: string;
  readonly source: TraceSource & TransactionFinder;
  /** Whether it is well now, as whoever else watches it says. */
  readonly isGood?: () => boolean;
}

/** Hears that a node did not give what it was asked for, and why; others are asked then. */
export type TurnedAway = (node: string, what: string, error: NodeError) => void;

interface Member extends SourceMember {
  /** It is on the chain of the set; not known before it was asked, and after it failed. */
  verified: boolean;
  restUntilMs: number;
}

/**
 * Several nodes as one: what one of them fails or cannot give is asked of the next. A node of another chain is never
 * taken from. The head is the highest, and does not go back for no other reason than that another node tells it.
 */
export class SourceSet implements TraceSource, TransactionFinder {
  readonly #members: readonly Member[];
  readonly #turnedAway: TurnedAway;
  readonly #now: () => number;
  readonly #boundChain: () => Awaitable<ChainIdentity | undefined>;
  /** The chain of the first node that told, while the index is bound to none. */
  #firstChain: ChainIdentity | undefined;
  #heads: NodeHeads | undefined;
  /** The node that the heads are of: asked first, so that blocks come from the chain that the head is of. */
  #leader: Member | undefined;

  /** `boundChain` is the chain that the index is bound to, once it is: nodes of another are never taken from. */
  constructor(
    members: readonly SourceMember[],
    turnedAway: TurnedAway = () => undefined,
    boundChain: () => Awaitable<ChainIdentity | undefined> = () => undefined,
    now = Date.now,
  ) {
    this.#boundChain = boundChain;
    this.#members = members.map((member) => ({ ...member, verified: false, restUntilMs: 0 }));
    this.#turnedAway = turnedAway;
    this.#now = now;
  }

  /**
   * The chain of the set. Where the index is bound to one and no node is on it, the chain of the first node that answers:
   * whoever asked finds that it is another.
   */
  async chain(): Promise<ChainIdentity> {
    const asked = this.#inOrder().map((member) => this.#inTime(member, 'its chain', member.source.chain()));
    const answers = await Promise.allSettled(asked);
    const chains = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const expected = await this.#chain();
    const chain = chains.find((one) => expected !== undefined && isSame(one, expected)) ?? chains[0];
    if (chain !== undefined) return chain;
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    throw failed?.reason ?? new NodeError('unreachable', 'there is no node to ask');
  }

  async #chain(): Promise<ChainIdentity | undefined> {
    return (await this.#boundChain()) ?? this.#firstChain;
  }

  async heads(): Promise<NodeHeads> {
    const nowMs = this.#now();
    const rested = this.#members.filter(({ restUntilMs }) => restUntilMs <= nowMs);
    const asked = rested.length > 0 ? rested : this.#members;
    const answers = await Promise.allSettled(asked.map((member) => this.#headsOf(member)));
    let best: { member: Member; heads: NodeHeads } | undefined;
    let leaderAnswered = false;
    let failure: unknown;
    answers.forEach((answer, i) => {
      const member = asked[i];
      if (member === undefined) return;
      if (answer.status === 'rejected') {
        if (!(answer.reason instanceof NodeError)) throw answer.reason;
        failure ??= answer.reason;
        member.restUntilMs = nowMs + REST_MS;
        if (this.#members.length > 1) this.#turnedAway(member.name, 'its head', answer.reason);
        return;
      }
      const heads = answer.value;
      if (member === this.#leader) leaderAnswered = true;
      const ahead = heads.latest.number - (best?.heads.latest.number ?? -1);
      if (ahead > 0 || (ahead === 0 && member === this.#leader)) best = { member, heads };
    });
    if (best === undefined) throw failure ?? new NodeError('unreachable', 'there is no node to ask');
    const known = this.#heads;
    // Another node that has not come as far says nothing new: the head stays until one has.
    if (known !== undefined && !leaderAnswered && best.heads.latest.number < known.latest.number)
      return known;
    this.#leader = best.member;
    this.#heads = withHighestFinalized(best.heads, known);
    return this.#heads;
  }

  blockRef(blockNumber: number): Promise<BlockRef | undefined> {
    return this.#first(`block ${blockNumber}`, ({ source }) => source.blockRef(blockNumber));
  }

  block(blockNumber: number): Promise<TracedBlock | undefined> {
    return this.#first(`block ${blockNumber}`, ({ source }) => source.block(blockNumber));
  }

  transactionBlock(hash: Hash): Promise<number | undefined> {
    return this.#first('a transaction', ({ source }) => source.transactionBlock(hash));
  }

  /** The first answer. Where no node gives one: undefined where a node has nothing, else the first failure. */
  async #first<T>(what: string, ask: (member: Member) => Promise<T | undefined>): Promise<T | undefined> {
    let failure: NodeError | undefined;
    let anyHasNothing = false;
    let oversized = 0;
    for (const member of this.#inOrder()) {
      try {
        const value = await this.#ask(member, () => ask(member));
        // That one node has not come so far says nothing of the others.
        if (value !== undefined) return value;
        anyHasNothing = true;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        failure ??= error;
        if (this.#members.length > 1) this.#turnedAway(member.name, what, error);
        if (error.reason === 'oversized' && ++oversized === MAX_OVERSIZED_ANSWERS) break;
      }
    }
    if (anyHasNothing) return undefined;
    throw failure ?? new NodeError('unreachable', 'there is no node to ask');
  }

  #headsOf(member: Member): Promise<NodeHeads> {
    return this.#inTime(
      member,
      'its head',
      this.#ask(member, () => member.source.heads()),
    );
  }

  /** What one node answers, if it does so in time; with a single node there is nothing to turn to. */
  #inTime<T>(member: Member, what: string, asked: Promise<T>): Promise<T> {
    if (this.#members.length === 1) return asked;
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<never>((_, reject) => {
      const late = new NodeError('timeout', `${member.name} did not tell ${what} in ${ANSWER_TIMEOUT_MS} ms`);
      timer = setTimeout(reject, ANSWER_TIMEOUT_MS, late);
    });
    return Promise.race([asked, timedOut]).finally(() => clearTimeout(timer));
  }

  async #ask<T>(member: Member, ask: () => Promise<T>): Promise<T> {
    try {
      await this.#verify(member);
      return await ask();
    } catch (error) {
      // Behind an address that was down another node may stand now.
      member.verified = false;
      throw error;
    }
  }

  async #verify(member: Member): Promise<void> {
    if (member.verified) return;
    const chain = await member.source.chain();
    this.#firstChain ??= chain;
    const expected = (await this.#chain()) ?? chain;
    if (!isSame(chain, expected))
      throw new NodeError(
        'refused',
        `${member.name} is on chain ${chain.chainId} with genesis ${chain.genesisHash}, the index and the other nodes are ` +
          `on chain ${expected.chainId} with genesis ${expected.genesisHash}: it is never taken from`,
      );
    member.verified = true;
  }

  #inOrder(): Member[] {
    const cost = (member: Member): number =>
      (member.isGood?.() === false ? 4 : 0) +
      (member.restUntilMs > this.#now() ? 2 : 0) +
      (member === this.#leader ? 0 : 1);
    return [...this.#members].sort((a, b) => cost(a) - cost(b));
  }
}

const isSame = (a: ChainIdentity, b: ChainIdentity): boolean =>
  a.chainId === b.chainId && a.genesisHash === b.genesisHash;

/** What one node has called final stays final. */
function withHighestFinalized(heads: NodeHeads, known: NodeHeads | undefined): NodeHeads {
  const finalized = known?.finalized;
  const keeps = finalized !== undefined && finalized.number > (heads.finalized?.number ?? -1);
  return keeps ? { ...heads, finalized } : heads;
}
