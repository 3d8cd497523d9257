import type { Result } from '../../jsonrpc/index.ts';
import {
  ArrivalRoom,
  type HedgedResponse,
  type UpstreamNode,
  type UpstreamResponse,
  type WholeResponse,
} from '../../nodes/index.ts';
import type { KeptAnswer } from '../cache/keptAnswer.ts';
import type { CallContext } from '../method.ts';
import type { RelayedRow } from '../methods/row.ts';
import { agreed } from './agreement.ts';
import { type CachePolicy, cachePolicyOf, foundIn, headIn } from './cachePolicy.ts';
import type { Network } from './network.ts';
import { refusalOf } from './refusalOf.ts';
import { relayExtra } from './relayExtra.ts';
import { resultBytes } from './resultBytes.ts';
import { sendOnce } from './sendOnce.ts';
import { Unanswered } from './unanswered.ts';
import type { RelayedRequest, UpstreamSender } from './upstreamSender.ts';

/** Answers above this are not worth their room. */
const MAX_CACHED_BYTES = 1024 * 1024;

/** A response that others get who asked the same meanwhile. */
interface Coalesced {
  readonly node: string;
  readonly response: UpstreamResponse;
}

/** A request whose answer was not in the cache. */
interface CachedRequest {
  readonly key: string;
  readonly params: readonly unknown[];
  readonly policy: CachePolicy;
}

/** Answers one method from the cache, or by one request to the nodes, however many ask for the same at a time. */
export class CachedRelay {
  readonly #row: RelayedRow;
  readonly #network: Network;
  readonly #sender: UpstreamSender;
  /** Several nodes are asked, and what most say is the answer. */
  readonly #needsAgreement: boolean;
  readonly #cacheResults: ReturnType<Network['metrics']['cacheResults']>;
  /** Requests under way, by their key: the same asked for again waits for their answer. */
  readonly #underWay = new Map<string, Promise<Coalesced | undefined>>();

  constructor(row: RelayedRow, network: Network, sender: UpstreamSender) {
    this.#row = row;
    this.#network = network;
    this.#sender = sender;
    this.#needsAgreement = network.agreement.methods.includes(row.name);
    this.#cacheResults = network.metrics.cacheResults(network.name, row.name);
  }

  /** At once where it is cached. Throws RpcError. */
  answer(params: readonly unknown[], context: CallContext): Promise<Result> | Result {
    const { scope } = this.#row;
    if (this.#row.isExtra === true) return relayExtra(this.#sender, params, context);
    if (scope.of === 'head' && !this.#network.pool.isSingle) return this.#head(context);
    const key = this.#row.name + JSON.stringify(params);
    const policy = cachePolicyOf(this.#row, params);
    const cached = policy === 'never' ? undefined : this.#cached(key, policy);
    if (cached !== undefined) {
      this.#countHit(context);
      context.kept = cached;
      return cached.bytes;
    }
    return this.#row.once === true
      ? sendOnce(this.#sender, params, context)
      : this.#ask({ key, params, policy }, context);
  }

  /** With several nodes the head is what all of them together say. */
  #head(context: CallContext): Result | Promise<Result> {
    const { pool } = this.#network;
    if (pool.isAnyHealthy) return this.#knownHead(context);
    return pool.comesBack().then(() => this.#knownHead(context));
  }

  #knownHead(context: CallContext): Result {
    const { heads, isAnyHealthy } = this.#network.pool;
    if (heads.latest === undefined || !isAnyHealthy) throw new Unanswered();
    this.#countHit(context);
    return Buffer.from(`"0x${heads.latest.number.toString(16)}"`);
  }

  #countHit(context: CallContext): void {
    context.cache = 'hit';
    this.#cacheResults.hit.inc();
  }

  #cached(key: string, policy: CachePolicy): KeptAnswer | undefined {
    const { cache } = this.#network;
    if (typeof policy === 'number' && !this.#isFinal(policy)) return cache.getHead(key);
    return cache.getFinal(key) ?? (policy === 'found' ? cache.getHead(key) : undefined);
  }

  async #ask(asked: CachedRequest, context: CallContext): Promise<Result> {
    const { key, params, policy } = asked;
    const underWay = this.#underWay.get(key);
    // Without a pause where none is under way: the next entry of the same batch must find this one.
    const coalesced = underWay === undefined ? undefined : await underWay;
    if (coalesced !== undefined) {
      context.cache = 'coalesced';
      context.node = coalesced.node;
      this.#cacheResults.coalesced.inc();
      return resultBytes(coalesced.response);
    }
    const failed = this.#sender.failedBefore(key, params);
    const failedBefore = failed instanceof Promise ? await failed : failed;
    if (failedBefore?.isFinal === true) {
      this.#countHit(context);
      throw refusalOf(failedBefore);
    }
    let share: (coalesced: Coalesced | undefined) => void = () => undefined;
    this.#underWay.set(key, new Promise((resolve) => (share = resolve)));
    const room = new ArrivalRoom(context.room);
    // Nobody hears of a failure or a stream from another's request: they ask for themselves.
    let shared: Coalesced | undefined;
    try {
      const { epoch } = this.#network.cache;
      const { client, span, mayStream } = context;
      const sent = this.#needsAgreement
        ? await this.#agreed({ params, policy, room, client, span })
        : await this.#sender.send({ key, params, policy, mayStream, failedBefore, room, client, span });
      context.cache = 'miss';
      context.node = sent.node.name;
      this.#cacheResults.miss.inc();
      if ('stream' in sent) return this.#sender.resultOf(sent, key, params);
      await this.#learnHead(sent, params);
      this.#cache(asked, sent, epoch);
      shared = { node: sent.node.name, response: sent.response };
      return resultBytes(sent.response);
    } finally {
      room.close();
      this.#underWay.delete(key);
      share(shared);
    }
  }

  /**
   * A block that a node tells of and the head has not come to is the head's next: the reader may ask for it now. A head of a
   * single node's that is below the known one is the head: what is answered from the index after it must be of it, too.
   */
  async #learnHead({ node, response }: WholeResponse, params: readonly unknown[]): Promise<void> {
    const { pool } = this.#network;
    if (response.kind !== 'result') return;
    if (pool.isSingle) {
      const told = headIn(this.#row, params, response.value);
      if (told !== undefined && told < (pool.heads.latest?.number ?? 0)) await pool.refresh(node);
      return;
    }
    const number = foundIn(this.#row, response.value);
    if (number !== undefined && number > (pool.heads.latest?.number ?? number)) await pool.refresh(node);
  }

  #cache({ key, params, policy }: CachedRequest, { node, response }: WholeResponse, epoch: number): void {
    if (policy === 'never' || response.kind === 'error' || response.value === null) return;
    if (response.bytes.length > MAX_CACHED_BYTES) return;
    const { cache, pool, confirmations } = this.#network;
    const block = policy === 'found' ? foundIn(this.#row, response.value) : policy;
    if (block === undefined) return;
    // The bytes are a part of a larger buffer: what is cached must not keep that alive.
    const bytes = Buffer.from(response.bytes);
    if (block !== 'constant' && !this.#isFinal(block)) return cache.putHead(key, bytes, epoch);
    if (this.#row.isProven === true || this.#needsAgreement) return cache.putFinal(key, bytes);
    // It was found out while it answered.
    if (node.health === 'quarantined') return;
    cache.putSaid(key, bytes, node.name);
    if (pool.isSingle) return;
    const { mayDiffer = false } = this.#row;
    const askAnother = (tried: Set<UpstreamNode>): Promise<HedgedResponse> =>
      this.#sender.send({ params, policy, mayStream: false, tried, isBackground: true });
    confirmations.want({ key, node, bytes, value: response.value, mayDiffer, askAnother });
  }

  async #agreed(request: Omit<RelayedRequest, 'mayStream'>): Promise<WholeResponse> {
    const { agreement, pool } = this.#network;
    return agreed(Math.min(agreement.nodes, pool.nodes.length), async (tried) => {
      const sent = await this.#sender.send({ ...request, mayStream: false, tried });
      if ('stream' in sent) throw new Error('a node answered with a stream where none was asked for');
      return sent;
    });
  }

  #isFinal(block: number): boolean {
    return block <= (this.#network.pool.heads.final ?? -1);
  }
}
