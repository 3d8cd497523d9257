import type { Slots } from '../../../platform/budgets/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import {
  type Budget,
  type Finality,
  type IndexTraceLimits,
  type NodeLimits,
  type NodeOptions,
  NodePool,
  type NodeRemoval,
  type PoolObserver,
  type RemotePolls,
  type UpstreamNode,
} from '../../nodes/index.ts';
import type { ChainIdentity } from '../../traces/index.ts';
import { AnswerCache } from '../cache/answerCache.ts';
import type { AnswerStore } from '../cache/answerStore.ts';
import type { GatewayMetrics } from '../metrics.ts';
import { Confirmations } from './checks/confirmations.ts';
import { FailedRequests } from './checks/failedRequests.ts';
import { SecondOpinions } from './checks/secondOpinions.ts';
import type { Network } from './network.ts';
import { type AcceptedTransaction, AcceptedTransactions } from './sending/acceptedTransactions.ts';

export interface NetworkOptions {
  /** Name of the network, as in the URL path. */
  readonly name: string;
  readonly upstreams: readonly NodeOptions[];
  readonly pollIntervalMs: number;
  readonly timeoutMs: number;
  /** Maximum time in milliseconds that a call waits for a node to recover if all nodes are unavailable. */
  readonly nodeWaitMs: number;
  readonly maxAnswerBytes: number;
  readonly traceLimits: IndexTraceLimits;
  readonly cacheMemoryBytes: number;
  readonly agreementMethods: readonly string[];
  /** Chain to which the blocks in the network's index belong. Undefined if the index is empty. */
  readonly chain: ChainIdentity | undefined;
  /** Rule that determines final blocks. Undefined: the default rule of the chain. */
  readonly finality: Finality | undefined;
  /** Number of processes that relay requests of clients to the nodes. Default: 1. */
  readonly processes?: number | undefined;
}

export interface RemotePolling extends RemotePolls {
  /** Reports a node to the polling process. `why`: its new health. Undefined: its chain must be compared again. */
  readonly reportNodeFault: (node: UpstreamNode, why: NodeRemoval | undefined) => void;
  /** Returns the call budget of a node that has limits. `place` is the index of the node in the configuration. */
  readonly budgetOf: (limits: NodeLimits, place: number) => Budget;
  /** Returns the slots for traces at a node, which all processes share. */
  readonly traceSlotsOf: (place: number) => Slots;
  /** Sends a transaction that a node accepted to all processes. Resolves when they have it. */
  readonly shareAccepted: (transaction: AcceptedTransaction) => Promise<void>;
}

export interface NetworkDependencies {
  readonly store: AnswerStore;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  /** Connection to the process that polls the nodes. Default: this process polls them. */
  readonly remotePolling?: RemotePolling | undefined;
}

/** Starts to poll the nodes of a network. Rejects with ChainMismatchError if the nodes are on different chains. */
export async function startNetwork(
  options: NetworkOptions,
  { store, metrics, log, remotePolling }: NetworkDependencies,
): Promise<Network> {
  const { name, maxAnswerBytes, timeoutMs } = options;
  const cache = new AnswerCache({
    network: name,
    store,
    memoryBytes: options.cacheMemoryBytes,
  });
  const keeper = new StoreKeeper(name, cache, log);
  const pool = new NodePool(
    {
      nodes: options.upstreams,
      pollIntervalMs: options.pollIntervalMs,
      nodeWaitMs: options.nodeWaitMs,
      chain: options.chain,
      finality: options.finality,
      traceLimits: options.traceLimits,
      processes: options.processes,
    },
    {
      observer: observerOf(name, cache, { metrics, log, remotePolling }),
      polled: () => keeper.polled(pool),
      remotePolls: remotePolling,
      budgetOf: remotePolling?.budgetOf,
      traceSlotsOf: remotePolling?.traceSlotsOf,
    },
  );
  pool.onHead(() => cache.headChanged());
  try {
    await pool.start();
    pool.assertSingleChain();
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
  const { agreementMethods } = options;
  const failedRequests = new FailedRequests();
  const secondOpinions = new SecondOpinions();
  const accepted = new AcceptedTransactions();
  const shareAccepted = async (transaction: AcceptedTransaction): Promise<void> => {
    accepted.add(transaction);
    await remotePolling?.shareAccepted(transaction);
  };
  const memory = { cache, confirmations, failedRequests, secondOpinions, accepted, shareAccepted };
  return { name, pool, ...memory, agreementMethods, metrics, maxAnswerBytes, timeoutMs };
}

/** Opens the store of final results when the chain id is known. Then moves its anchor (a final block) forward. */
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

  /**
   * Called after each poll of the nodes, even if the head is unchanged: an earlier request for the hash of the anchor
   * block may have failed.
   */
  polled(pool: NodePool): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#keep(pool)
      .catch((error: unknown) => {
        this.#log.warn({ network: this.#network, err: error }, 'cannot cache final results');
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
        'cached results belong to another chain than the nodes; cache emptied',
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
  { metrics, log, remotePolling }: Omit<NetworkDependencies, 'store'>,
): PoolObserver {
  const call = ({ name }: UpstreamNode, method: string) => ({ network, node: name, method });
  const about = ({ name, client }: UpstreamNode): object => ({ network, node: name, host: client.host });
  return {
    answered: (node, method, elapsedMs) => metrics.nodeAnswered(call(node, method), elapsedMs),
    failed(node, method, error) {
      metrics.nodeFailed(call(node, method), error);
      remotePolling?.reportNodeFault(node, undefined);
    },
    sentInvalidResponse(node, method, reason) {
      cache.distrust(node.name);
      metrics.invalidResponse(call(node, method));
      log.error({ ...about(node), method, reason }, 'upstream quarantined: invalid response');
      remotePolling?.reportNodeFault(node, { health: 'quarantined', reason });
    },
    hedged: (slow, method) => metrics.hedged(call(slow, method)),
    healthChanged(node, reason) {
      const { health } = node;
      // All processes notice a change of health, but only the process that polls the nodes logs it.
      if (remotePolling !== undefined) return remotePolling.reportNodeFault(node, { health, reason });
      if (health === 'healthy') log.info(about(node), 'upstream healthy');
      else if (health === 'unknown') log.warn({ ...about(node), reason }, 'upstream not usable yet');
      else log.warn({ ...about(node), health, reason }, 'upstream removed from rotation');
    },
    traceMethodFound(node, traceMethod, remarks) {
      log.info({ ...about(node), traceMethod, remarks }, 'upstream trace method detected');
    },
    inexactGas: ({ name }, transactions) => metrics.inexactGas({ network, node: name }, transactions),
    headWentBack(from, to) {
      metrics.headWentBack(network);
      log.warn({ network, from: from.number, to: to.number }, 'head of the chain moved back');
    },
  };
}
