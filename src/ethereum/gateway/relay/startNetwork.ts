import type { Log } from '../../../platform/logging/index.ts';
import {
  type Budget,
  type Finality,
  type NodeLimits,
  type NodeOptions,
  NodePool,
  type PoolObserver,
  type SetAside,
  type UpstreamNode,
} from '../../nodes/index.ts';
import type { ChainIdentity } from '../../traces/index.ts';
import { AnswerCache } from '../cache/answerCache.ts';
import type { AnswerStore } from '../cache/answerStore.ts';
import type { GatewayMetrics } from '../metrics.ts';
import { Confirmations } from './confirmations.ts';
import { FailedRequests } from './failedRequests.ts';
import type { Network } from './network.ts';

export interface NetworkOptions {
  /** As it stands in the path. */
  readonly name: string;
  readonly upstreams: readonly NodeOptions[];
  readonly pollIntervalMs: number;
  readonly timeoutMs: number;
  /** How long a call waits for a node to come back where all are away. */
  readonly nodeWaitMs: number;
  readonly maxAnswerBytes: number;
  readonly cacheMemoryBytes: number;
  /** How long an answer of a final block is kept that only one node gave. */
  readonly cacheUnconfirmedMs: number;
  readonly agreement: Network['agreement'];
  /** The chain of the network's index; undefined before it has one. */
  readonly chain: ChainIdentity | undefined;
  /** Which blocks count as final; undefined for what is usual on the chain. */
  readonly finality: Finality | undefined;
}

/** Where another process polls the nodes. */
export interface PolledElsewhere {
  readonly poll: (node: UpstreamNode) => Promise<void>;
  /** Hears what calls have found of a node: that it was taken out of rotation, or that its chain is to be compared anew. */
  readonly found: (node: UpstreamNode, why: SetAside | undefined) => void;
  /** What it lets this one ask of a node that has limits, by its place. */
  readonly budgetOf: (limits: NodeLimits, place: number) => Budget;
}

export interface NetworkDependencies {
  readonly store: AnswerStore;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  /** Left out: the nodes are polled here. */
  readonly elsewhere?: PolledElsewhere | undefined;
}

/** Starts to watch the nodes of a network. Rejects with ChainMismatchError where they are on different chains. */
export async function startNetwork(
  options: NetworkOptions,
  { store, metrics, log, elsewhere }: NetworkDependencies,
): Promise<Network> {
  const { name, maxAnswerBytes, timeoutMs } = options;
  const cache = new AnswerCache({
    network: name,
    store,
    memoryBytes: options.cacheMemoryBytes,
    unconfirmedMs: options.cacheUnconfirmedMs,
  });
  const keeper = new StoreKeeper(name, cache, log);
  const pool = new NodePool(
    {
      nodes: options.upstreams,
      pollIntervalMs: options.pollIntervalMs,
      nodeWaitMs: options.nodeWaitMs,
      chain: options.chain,
      finality: options.finality,
    },
    {
      observer: observerOf(name, cache, { metrics, log, elsewhere }),
      polled: () => keeper.polled(pool),
      pollElsewhere: elsewhere?.poll,
      budgetOf: elsewhere?.budgetOf,
    },
  );
  pool.onHead(() => cache.headChanged());
  try {
    await pool.start();
    pool.refuseChainMixture();
  } catch (error) {
    await pool.stop();
    throw error;
  }
  const confirmations = new Confirmations(cache, ({ name: node, client }, key) => {
    const method = key.slice(0, key.indexOf('['));
    metrics.disagreed({ network: name, node, method });
    log.warn(
      { network: name, node, host: client.host, method },
      'upstream disagrees with another about a final block',
    );
  });
  const { agreement } = options;
  const failedRequests = new FailedRequests();
  return { name, pool, cache, confirmations, agreement, failedRequests, metrics, maxAnswerBytes, timeoutMs };
}

/** Opens the store of final answers once the chain is known, and moves its anchor along. */
class StoreKeeper {
  readonly #network: string;
  readonly #cache: AnswerCache;
  readonly #log: Log;
  #busy = false;

  constructor(network: string, cache: AnswerCache, log: Log) {
    this.#network = network;
    this.#cache = cache;
    this.#log = log;
  }

  /** Also where the head stands still: a node may have failed to tell the anchor's hash the last time. */
  polled(pool: NodePool): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#keep(pool)
      .catch((error: unknown) => {
        this.#log.warn({ network: this.#network, err: error }, 'final answers cannot be cached now');
      })
      .finally(() => {
        this.#busy = false;
      });
  }

  async #keep(pool: NodePool): Promise<void> {
    const { chainId, heads } = pool;
    if (chainId === undefined) return;
    if (!this.#cache.isOpen && (await this.#cache.open(chainId, (number) => pool.blockHash(number))))
      this.#log.warn(
        { network: this.#network },
        'the cached answers are of another chain than the nodes are on; they were dropped',
      );
    const { final } = heads;
    if (final === undefined || !this.#cache.wantsAnchor(final)) return;
    const hash = await pool.blockHash(final);
    if (hash !== undefined) this.#cache.setAnchor({ chainId, number: final, hash });
  }
}

function observerOf(
  network: string,
  cache: AnswerCache,
  { metrics, log, elsewhere }: Omit<NetworkDependencies, 'store'>,
): PoolObserver {
  const call = ({ name }: UpstreamNode, method: string) => ({ network, node: name, method });
  const about = ({ name, client }: UpstreamNode): object => ({ network, node: name, host: client.host });
  return {
    answered: (node, method, elapsedMs) => metrics.nodeAnswered(call(node, method), elapsedMs),
    failed(node, method, error) {
      metrics.nodeFailed(call(node, method), error);
      elsewhere?.found(node, undefined);
    },
    sentInvalidResponse(node, method, reason) {
      cache.distrust(node.name);
      metrics.invalidResponse(call(node, method));
      log.error({ ...about(node), method, reason }, 'upstream quarantined: its response cannot be true');
      elsewhere?.found(node, { health: 'quarantined', reason });
    },
    hedged: (method) => metrics.hedged(network, method),
    healthChanged(node, reason) {
      const { health } = node;
      // It is told there, once for all.
      if (elsewhere !== undefined) return elsewhere.found(node, { health, reason });
      if (health === 'healthy') log.info(about(node), 'upstream healthy');
      else log.warn({ ...about(node), health, reason }, 'upstream removed from rotation');
    },
    traceMethodFound(node, traceMethod, remarks) {
      log.info({ ...about(node), traceMethod, remarks }, 'upstream trace method detected');
    },
    headWentBack(from, to) {
      metrics.headWentBack(network);
      log.warn({ network, from: from.number, to: to.number }, 'the head of the chain went back');
    },
  };
}
