import type { Result } from '../../jsonrpc/index.ts';
import {
  type HedgedResponse,
  ReceiveReservation,
  type UpstreamNode,
  type UpstreamResponse,
  type WholeResponse,
} from '../../nodes/index.ts';
import { type CallContext, clientOf } from '../method.ts';
import type { RelayedRow } from '../methods/row.ts';
import { RELAYED_ROWS } from '../methods/rows/relayedRows.ts';
import { type CachePolicy, cachePolicyOf, foundIn, headIn, isLookUp } from './cachePolicy.ts';
import { AGREEMENT_NODES, majorityResponse } from './checks/agreement.ts';
import { clientErrorOf } from './clientErrorOf.ts';
import type { Network } from './network.ts';
import { NoResponseError } from './noResponseError.ts';
import { relayExtra } from './relayExtra.ts';
import { resultBytes } from './resultBytes.ts';
import { sendOnce, type TransactionSenders } from './sending/sendOnce.ts';
import { senderOf } from './sending/sentTransaction.ts';
import { type RelayedRequest, UpstreamSender } from './upstreamSender.ts';

const LOOK_UP = RELAYED_ROWS.find(({ name }) => name === 'eth_getTransactionByHash') as RelayedRow; // it is a row

const MAX_CACHED_BYTES = 1024 * 1024;

/** Response of a node, with the node's name. Waiting requests with equal parameters get the same response. */
interface Coalesced {
  readonly node: string;
  readonly response: UpstreamResponse;
}

interface CachedRequest {
  readonly key: string;
  readonly params: readonly unknown[];
  readonly policy: CachePolicy;
}

/** Serves one method from the cache or from nodes. Concurrent calls with equal parameters share one node request. */
export class CachedRelay {
  readonly #row: RelayedRow;
  readonly #network: Network;
  readonly #sender: UpstreamSender;
  /** Looks up transactions, for methods that send one. */
  readonly #lookUp: UpstreamSender;
  /** True if the method is sent to several nodes, and the result of the majority is returned. */
  readonly #needsAgreement: boolean;
  readonly #cacheResults: ReturnType<Network['metrics']['cacheResults']>;
  /** Pending requests to nodes, by method and parameters. */
  readonly #underWay = new Map<string, Promise<Coalesced | undefined>>();

  constructor(row: RelayedRow, network: Network, sender: UpstreamSender) {
    this.#row = row;
    this.#network = network;
    this.#sender = sender;
    this.#lookUp = new UpstreamSender(LOOK_UP, network);
    this.#needsAgreement = network.agreementMethods.includes(row.name);
    this.#cacheResults = network.metrics.cacheResults(network.name, row.name);
  }

  /** Returns a cached result synchronously, otherwise a promise of a node's result. Throws RpcError. */
  answer(params: readonly unknown[], context: CallContext): Promise<Result> | Result {
    const { scope } = this.#row;
    if (this.#row.isExtra === true) return relayExtra(this.#sender, params, context);
    if (scope.of === 'head' && !this.#network.pool.isSingle) return this.#head(context);
    const key = this.#row.name + JSON.stringify(params);
    const policy = cachePolicyOf(this.#row, params);
    const cached = policy === 'never' ? undefined : this.#cached(key, policy);
    if (cached !== undefined) {
      this.#countHit(context);
      return cached;
    }
    return this.#row.once === true
      ? sendOnce(this.#senders(String(params[0])), params, context)
      : this.#ask({ key, params, policy }, context);
  }

  #senders(raw: string): TransactionSenders {
    const { pool, shareAccepted } = this.#network;
    const accepted = async (hashOf: () => string, node: UpstreamNode): Promise<void> => {
      if (pool.isSingle) return;
      await shareAccepted({ hash: hashOf(), sender: senderOf(raw), node: pool.nodes.indexOf(node) });
    };
    return { send: this.#sender, lookUp: this.#lookUp, accepted };
  }

  /** Returns the latest block number, for several nodes: the head on which they agree, without a new request. */
  #head(context: CallContext): Result | Promise<Result> {
    const { pool } = this.#network;
    if (pool.isAnyHealthy) return this.#knownHead(context);
    return pool.waitForRecovery().then(() => this.#knownHead(context));
  }

  #knownHead(context: CallContext): Result {
    const { heads, isAnyHealthy } = this.#network.pool;
    if (heads.latest === undefined || !isAnyHealthy) throw new NoResponseError();
    this.#countHit(context);
    return Buffer.from(`"0x${heads.latest.number.toString(16)}"`);
  }

  #countHit(context: CallContext): void {
    context.cache = 'hit';
    this.#cacheResults.hit.inc();
  }

  #cached(key: string, policy: CachePolicy): Buffer | undefined {
    const { cache } = this.#network;
    if (typeof policy === 'number' && !this.#isFinal(policy)) return cache.getHead(key);
    return policy === 'found' ? cache.getFinalOrHead(key) : cache.getFinal(key);
  }

  async #ask(asked: CachedRequest, context: CallContext): Promise<Result> {
    const { key, params, policy } = asked;
    const accepted = this.#sender.acceptedOf(params);
    // A request after a transaction must not get the result of an equal request before it.
    const underWayKey = accepted === undefined ? key : `${key} ${accepted.serial}`;
    const underWay = this.#underWay.get(underWayKey);
    // Nothing may be awaited here before this request is in `#underWay`. Otherwise an equal call of the same batch
    // would not find this request, and would be sent to a node too.
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
      throw clientErrorOf(failedBefore);
    }
    let share: (coalesced: Coalesced | undefined) => void = () => undefined;
    this.#underWay.set(underWayKey, new Promise((resolve) => (share = resolve)));
    const room = new ReceiveReservation(context.room);
    // A failure or a stream is not shared. In these cases, each waiting request is sent to a node on its own.
    let shared: Coalesced | undefined;
    try {
      const { epoch } = this.#network.cache;
      const { span, mayStream } = context;
      const client = clientOf(context);
      const sent = this.#needsAgreement
        ? await this.#agreed({ params, policy, room, client, span })
        : await this.#found({ key, params, policy, mayStream, failedBefore, room, client, span });
      context.cache = 'miss';
      context.node = sent.node.name;
      this.#cacheResults.miss.inc();
      if ('stream' in sent) return this.#sender.resultOf(sent, key, params);
      await this.#learnHead(sent, params);
      this.#cache(asked, sent, epoch);
      shared = { node: sent.node.name, response: sent.response };
      return resultBytes(sent.response);
    } finally {
      room.release();
      this.#underWay.delete(underWayKey);
      share(shared);
    }
  }

  /**
   * Refreshes the known head if a result contradicts it. With several nodes, this is a result with a block above the
   * known head. With a single node, it is a head below the known one: later results from the index must match the
   * node's new head.
   */
  async #learnHead({ node, response }: WholeResponse, params: readonly unknown[]): Promise<void> {
    const { pool } = this.#network;
    if (response.kind !== 'result') return;
    if (pool.isSingle) {
      const reported = headIn(this.#row, params, response.value);
      if (reported !== undefined && reported < (pool.heads.latest?.number ?? 0)) await pool.refresh(node);
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
    // Without this copy, the cached bytes would keep the whole, larger receive buffer in memory.
    const bytes = Buffer.from(response.bytes);
    if (block !== 'constant' && !this.#isFinal(block)) return cache.putHead(key, bytes, epoch);
    if (this.#row.isProven === true || this.#needsAgreement) return cache.putFinal(key, bytes);
    // If the node was quarantined during this request, another result of it was wrong, so this one is not cached.
    if (node.health === 'quarantined') return;
    cache.putUnconfirmed(key, bytes, node.name);
    if (pool.isSingle) return;
    const { mayDiffer = false } = this.#row;
    const askAnother = (tried: Set<UpstreamNode>): Promise<HedgedResponse> =>
      this.#sender.send({ params, policy, mayStream: false, tried, isBackground: true });
    confirmations.enqueue({ key, node, bytes, value: response.value, mayDiffer, askAnother });
  }

  /** Returns a node's response. If the node says that the object does not exist, a second node is asked as well. */
  async #found(request: RelayedRequest & { readonly key: string }): Promise<HedgedResponse> {
    const { pool, secondOpinions } = this.#network;
    let sent = await this.#sender.send(request);
    if (!isMissing(sent) || pool.isSingle || !isLookUp(this.#row, request.params)) return sent;
    // Perhaps this process did not know the newest head, and chose a node that lags. If so, send again.
    if (await pool.catchUp()) sent = await this.#sender.send(request);
    if (!isMissing(sent)) return sent;
    const second = await secondOpinions.get(request.key, () => this.#sender.askAnother(request, sent.node));
    // The response of the second node is ignored if its block is no longer on the chain of the current head.
    if (second === undefined || this.#sender.isOfOtherFork(request.params, second.response)) return sent;
    return second;
  }

  async #agreed(request: Omit<RelayedRequest, 'mayStream'>): Promise<WholeResponse> {
    return majorityResponse(Math.min(AGREEMENT_NODES, this.#network.pool.nodes.length), async (tried) => {
      const sent = await this.#sender.send({ ...request, mayStream: false, tried });
      if ('stream' in sent) throw new Error('a node returned an unexpected stream');
      return sent;
    });
  }

  #isFinal(block: number): boolean {
    return block <= (this.#network.pool.heads.final ?? -1);
  }
}

const isMissing = (sent: HedgedResponse): boolean =>
  'response' in sent && sent.response.kind === 'result' && sent.response.value === null;
