import { randomBytes } from 'node:crypto';
import {
  Budget,
  type BudgetClient,
  type BudgetLimits,
  clientName,
} from '../../../../platform/budgets/index.ts';
import { NoNodeError, type Result, RpcError } from '../../../jsonrpc/index.ts';
import { FILTER_BYTES, logFilterBytes } from '../../http/limits/filterBytes.ts';
import type { FilterMemory } from '../../http/limits/filterMemory.ts';
import { Quota, takeAll } from '../../http/limits/quota.ts';
import type { AccessWatch } from '../../keys/accessWatch.ts';
import type { CallContext, Handler } from '../../method.ts';
import type { LogFilter } from '../../methods/logFilter.ts';
import type { Network } from '../../relay/network.ts';
import type { Live } from '../live/live.ts';
import { relayedHandler } from '../live/liveBlocks.ts';

/** Time in milliseconds after which an HTTP filter is removed if no client polls it. The same as in go-ethereum. */
const UNUSED_MS = 5 * 60_000;
/** Limits of the number of filters. If 100 addresses create as many as they can, 100 remain free. */
const MAX_FILTERS: BudgetLimits = { perClient: 1_000, total: 20_000, partOfFree: 1 / 19, minShare: 10 };
const MIB = 1024 * 1024;
/** Bytes of results that filters keep for the next poll. The smallest share is enough for one block of 400 logs. */
const WAITING_LIMITS: BudgetLimits = {
  perClient: 8 * MIB,
  total: 64 * MIB,
  partOfFree: 1 / 8,
  minShare: MIB / 2,
};

export interface FiltersDependencies {
  readonly network: Network;
  readonly live: Pick<Live, 'subscribeHeads' | 'subscribeLogs'>;
  readonly memory: FilterMemory;
  readonly accessWatch: Pick<AccessWatch, 'watch'>;
  readonly waitingLimits?: BudgetLimits;
}

interface Filter {
  readonly logs: LogFilter | undefined;
  readonly client: BudgetClient;
  /** New logs or block hashes since the last poll, each as JSON. */
  waiting: string[];
  waitingBytes: number;
  readonly unused: NodeJS.Timeout;
  /** Ends the subscription that feeds the filter, and releases the quota and memory of the filter. */
  readonly release: () => void;
}

/**
 * HTTP filters of one network, in memory. Each filter subscribes to new blocks or logs, and collects them until the
 * next poll. If they exceed the memory limit, a filter is removed. Its client then gets the error `filter not found`
 * instead of results with a gap.
 */
export class Filters {
  readonly #dependencies: FiltersDependencies;
  readonly #filters = new Map<string, Filter>();
  readonly #quota: Quota;
  readonly #waiting: Budget;
  readonly #getLogs: Handler;

  constructor(dependencies: FiltersDependencies) {
    this.#dependencies = dependencies;
    this.#quota = new Quota(
      { what: 'filters', remedy: 'end others with eth_uninstallFilter, or try again later' },
      MAX_FILTERS,
    );
    this.#waiting = new Budget(dependencies.waitingLimits ?? WAITING_LIMITS);
    this.#getLogs = relayedHandler(dependencies.network, 'eth_getLogs');
  }

  /** Returns the handler of an HTTP filter method. The handler receives canonical parameters. */
  handler(method: string): Handler {
    const handlers: Readonly<Record<string, Handler>> = {
      eth_newFilter: async ([filter], context) => asJson(await this.make(filter as LogFilter, context)), // validated by the parameter type
      eth_newBlockFilter: async (_, context) => asJson(await this.make(undefined, context)),
      eth_getFilterChanges: ([id]) => Buffer.from(`[${this.changes(String(id)).join(',')}]`),
      eth_getFilterLogs: ([id], context) => this.logs(String(id), context),
      eth_uninstallFilter: ([id]) => asJson(this.uninstall(String(id))),
    };
    const handler = handlers[method];
    if (handler === undefined) throw new Error(`${method} is not a method of HTTP filters`);
    return handler;
  }

  /** Creates a log filter, or a block filter if `logs` is undefined. Rejects with RpcError if a limit is reached. */
  async make(
    logs: LogFilter | undefined,
    { address = () => '', keyId, credential }: CallContext,
  ): Promise<string> {
    const { network, live, memory, accessWatch } = this.#dependencies;
    await refreshHead(network);
    const client = { address: address(), keyId };
    const release = takeAll(client, [
      [this.#quota, 1],
      [memory, logs === undefined ? FILTER_BYTES : logFilterBytes(logs)],
    ]);
    // Some clients convert ids to numbers, which would drop leading zeros. So each id starts with 1.
    const id = `0x1${randomBytes(16).toString('hex')}`;
    const push = (text: string): void => this.#push(id, text);
    const missed = (): void => void this.uninstall(id);
    const sink = { client: clientName(client), push, missed };
    const unsubscribe =
      logs === undefined
        ? live.subscribeHeads(sink, ({ hash }) => JSON.stringify(hash))
        : live.subscribeLogs(logs, sink);
    const method = logs === undefined ? 'eth_newBlockFilter' : 'eth_newFilter';
    const unwatch = accessWatch.watch(credential, method, () => void this.uninstall(id));
    this.#filters.set(id, {
      logs,
      client,
      waiting: [],
      waitingBytes: 0,
      unused: setTimeout(() => this.uninstall(id), UNUSED_MS).unref(),
      release() {
        unsubscribe();
        unwatch();
        release();
      },
    });
    return id;
  }

  /** Returns the logs or block hashes that were added since the last poll, as JSON. */
  changes(id: string): readonly string[] {
    const filter = this.#used(id);
    const { waiting } = filter;
    this.#forget(filter);
    return waiting;
  }

  /** Returns all logs in the block range of a filter, as eth_getLogs does. */
  logs(id: string, context: CallContext): Promise<Result> | Result {
    const { logs } = this.#used(id);
    if (logs === undefined) throw notFound('it is a block filter, which has no logs');
    return this.#getLogs([{ fromBlock: 'latest', toBlock: 'latest', ...logs }], context);
  }

  /** Removes an HTTP filter. Returns false if it does not exist. */
  uninstall(id: string): boolean {
    const filter = this.#filters.get(id);
    if (filter === undefined) return false;
    this.#filters.delete(id);
    clearTimeout(filter.unused);
    this.#forget(filter);
    filter.release();
    return true;
  }

  stop(): void {
    for (const id of this.#filters.keys()) this.uninstall(id);
  }

  #used(id: string): Filter {
    const filter = this.#filters.get(id);
    if (filter === undefined)
      throw notFound(
        'it was uninstalled, not polled for 5 minutes, ended with its API key, ended by a restart, or ended because ' +
          'results would have been lost; create a new one',
      );
    filter.unused.refresh();
    return filter;
  }

  #push(id: string, text: string): void {
    const filter = this.#filters.get(id);
    if (filter === undefined) return;
    filter.waiting.push(text);
    filter.waitingBytes += text.length;
    this.#waiting.charge(filter.client, text.length);
    if (this.#waiting.weightOf(filter.client) > this.#waiting.share) this.uninstall(id);
    while (this.#waiting.total > this.#waiting.limits.total) this.#endLargest();
  }

  /** Ends the filter with the most waiting bytes of the client with the most waiting bytes. */
  #endLargest(): void {
    const weights = new Map<string, number>();
    let largest = { id: '', weight: 0, bytes: 0 };
    for (const [id, { client, waitingBytes: bytes }] of this.#filters) {
      if (bytes === 0) continue;
      const name = `${client.address} ${client.keyId}`;
      const weight = weights.get(name) ?? this.#waiting.weightOf(client);
      weights.set(name, weight);
      if (weight > largest.weight || (weight === largest.weight && bytes > largest.bytes))
        largest = { id, weight, bytes };
    }
    this.uninstall(largest.id);
  }

  #forget(filter: Filter): void {
    this.#waiting.release(filter.client, filter.waitingBytes);
    filter.waiting = [];
    filter.waitingBytes = 0;
  }
}

const asJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const notFound = (why: string): RpcError => new RpcError('filterNotFound', `filter not found: ${why}`);

/** Updates the known head before a filter is created, so that the filter does not return blocks older than itself. */
async function refreshHead({ pool }: Network): Promise<void> {
  const [node] = pool.nodes;
  if (pool.isSingle && node !== undefined) await pool.refresh(node);
  if (pool.heads.latest === undefined) throw new NoNodeError();
}
