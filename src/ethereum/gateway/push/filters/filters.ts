import { randomBytes } from 'node:crypto';
import { Budget, type BudgetLimits } from '../../../../platform/budgets/index.ts';
import { NoNodeError, type Result, RpcError } from '../../../jsonrpc/index.ts';
import type { BlockRef } from '../../../nodes/index.ts';
import { FILTER_BYTES, logFilterBytes } from '../../http/limits/filterBytes.ts';
import type { FilterMemory } from '../../http/limits/filterMemory.ts';
import { Quotas } from '../../http/quotas.ts';
import type { CallContext, Handler } from '../../method.ts';
import type { LogFilter } from '../../methods/logFilter.ts';
import type { Network } from '../../relay/network.ts';
import type { Live } from '../live/live.ts';
import { relayedHandler } from '../live/liveBlocks.ts';

/** Time in milliseconds after which an HTTP filter is removed if no client polls it. The same as in go-ethereum. */
const UNUSED_MS = 5 * 60_000;
const MAX_FILTERS = { perAddress: 1_000, perKey: 1_000, total: 10_000 };
const MIB = 1024 * 1024;
/** Maximum bytes of results that filters hold for the next poll: per client address, and of all clients. */
const WAITING_LIMITS: BudgetLimits = { perClient: 8 * MIB, total: 64 * MIB };

export interface FiltersDependencies {
  readonly network: Network;
  readonly live: Pick<Live, 'subscribeHeads' | 'subscribeLogs'>;
  readonly memory: FilterMemory;
  readonly waitingLimits?: BudgetLimits;
}

interface Filter {
  readonly logs: LogFilter | undefined;
  readonly address: string;
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
  readonly #quotas = new Quotas('filters', MAX_FILTERS);
  readonly #waiting: Budget;
  readonly #getLogs: Handler;

  constructor(dependencies: FiltersDependencies) {
    this.#dependencies = dependencies;
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
    { client = () => '', address = () => '' }: CallContext,
  ): Promise<string> {
    const { network, live, memory } = this.#dependencies;
    await refreshHead(network);
    const giveBack = this.#quotas.take({ address: client(), keyId: undefined });
    let free: () => void;
    try {
      free = memory.take(address(), logs === undefined ? FILTER_BYTES : logFilterBytes(logs));
    } catch (error) {
      giveBack();
      throw error;
    }
    // Some clients convert ids to numbers, which would drop leading zeros. So each id starts with 1.
    const id = `0x1${randomBytes(16).toString('hex')}`;
    const push = (text: string): void => this.#push(id, text);
    const missed = (): void => void this.uninstall(id);
    const pushHash = (header: string): void => push(JSON.stringify((JSON.parse(header) as BlockRef).hash));
    const unsubscribe =
      logs === undefined
        ? live.subscribeHeads({ push: pushHash, missed })
        : live.subscribeLogs(logs, { push, missed });
    this.#filters.set(id, {
      ...{ logs, address: address(), waiting: [], waitingBytes: 0 },
      unused: setTimeout(() => this.uninstall(id), UNUSED_MS).unref(),
      release() {
        unsubscribe();
        giveBack();
        free();
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
        'it was uninstalled, not polled for 5 minutes, not polled in time, or ended by a restart',
      );
    filter.unused.refresh();
    return filter;
  }

  #push(id: string, text: string): void {
    const filter = this.#filters.get(id);
    if (filter === undefined) return;
    filter.waiting.push(text);
    filter.waitingBytes += text.length;
    this.#waiting.charge(filter, text.length);
    if (this.#waiting.usedBy(filter) > this.#waiting.share) this.uninstall(id);
    while (this.#waiting.total > this.#waiting.limits.total) this.#evict();
  }

  #evict(): void {
    let worst = '';
    let most = -1;
    for (const [id, filter] of this.#filters) {
      const { waitingBytes } = filter;
      // Ranks filters by the waiting bytes of their client, then by their own, whose term is below 1.
      const rank = this.#waiting.usedBy(filter) + waitingBytes / (2 * this.#waiting.total);
      if (waitingBytes === 0 || rank <= most) continue;
      [worst, most] = [id, rank];
    }
    this.uninstall(worst);
  }

  #forget(filter: Filter): void {
    this.#waiting.release(filter, filter.waitingBytes);
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
