import type { Result } from '../../jsonrpc/index.ts';
import type { BlockRef } from '../../nodes/index.ts';
import type { Live } from '../live/live.ts';
import { relayedHandler } from '../live/liveBlocks.ts';
import type { Sink } from '../live/sink.ts';
import type { CallContext, Handler } from '../method.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import type { Network } from '../relay/network.ts';
import { FilterIds, type FilterState, type KnownFilter } from './filterIds.ts';
import { notFound } from './notFound.ts';
import { OpenFilters } from './openFilters.ts';
import { type HeldTexts, PolledFilter } from './polledFilter.ts';
import type { PolledFilters } from './polledFilters.ts';
import { headOf, type ReadBehind, readBehind } from './readBehind.ts';

const LIMITS = {
  /** As in go-ethereum. */
  forgetMs: 5 * 60_000,
  /** Each is a subscription to what is new. */
  maxPerClient: 1_000,
  max: 10_000,
  maxEnded: 10_000,
};
/** What waits in all filters of a network to be fetched. Beyond it is read from nodes when it is fetched. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

export interface FiltersDependencies {
  readonly network: Network;
  readonly live: Live;
  /** Proves that ids are ours: processes that have the same one answer for each other's filters. */
  readonly secret: Uint8Array;
}

/**
 * The HTTP filters of one network. What a filter is of stands in its id; how far its client is stands here, and where it does not,
 * after a restart or in another process, the filter begins anew where it was made: a log may come twice, and none is left out.
 */
export class Filters implements PolledFilters {
  readonly #dependencies: FiltersDependencies;
  readonly #ids: FilterIds;
  readonly #open = new OpenFilters<PolledFilter>(LIMITS);
  readonly #held = heldTexts();
  readonly #read: ReadBehind;
  readonly #getLogs: Handler;

  constructor(dependencies: FiltersDependencies) {
    const { network, secret } = dependencies;
    this.#dependencies = dependencies;
    this.#ids = new FilterIds(network.name, secret);
    this.#read = readBehind(network);
    this.#getLogs = relayedHandler(network, 'eth_getLogs');
  }

  async make(logs: LogFilter | undefined, context: CallContext): Promise<string> {
    const made = this.#ids.make({ logs, since: await headOf(this.#dependencies.network) });
    this.#begin(made, context).begin();
    return made.id;
  }

  async changes(id: string, context: CallContext): Promise<readonly string[]> {
    const known = this.#find(id);
    return (this.#open.get(known.name) ?? this.#begin(known, context)).changes(context);
  }

  logs(id: string, context: CallContext): Promise<Result> | Result {
    const { name, logs } = this.#find(id);
    this.#open.get(name);
    if (logs === undefined) throw notFound('it is of blocks, and has no logs');
    return this.#getLogs([{ fromBlock: 'latest', toBlock: 'latest', ...logs }], context);
  }

  uninstall(id: string): boolean {
    const known = this.#ids.read(id);
    if (known === undefined || this.#open.hasEnded(known.name)) return false;
    this.#open.end(known.name);
    return true;
  }

  stop(): void {
    this.#open.stop();
  }

  #find(id: string): KnownFilter {
    const known = this.#ids.read(id);
    if (known === undefined || this.#open.hasEnded(known.name))
      throw notFound('it was uninstalled, not asked for in 5 minutes, or is none of this network');
    return known;
  }

  #begin({ name, logs, since: first }: KnownFilter, { client = () => '' }: CallContext): PolledFilter {
    const { live } = this.#dependencies;
    const make = (): PolledFilter =>
      new PolledFilter(first, {
        subscribe: (sink) => subscribe(live, logs, sink),
        tip: () => live.tip,
        read: (since, context) => this.#read({ logs, since }, context),
        held: this.#held,
      });
    return this.#open.add(name, client(), make);
  }
}

function subscribe(live: Live, logs: FilterState['logs'], sink: Sink): () => void {
  if (logs !== undefined) return live.subscribeLogs(logs, sink);
  return live.subscribeHeads({
    push: (header) => sink.push(JSON.stringify((JSON.parse(header) as BlockRef).hash)), // the header of a block
    missed: () => sink.missed(),
  });
}

function heldTexts(): HeldTexts {
  let held = 0;
  return {
    take(bytes) {
      if (held + bytes > MAX_HELD_BYTES) return false;
      held += bytes;
      return true;
    },
    giveBack(bytes) {
      held -= bytes;
    },
  };
}
