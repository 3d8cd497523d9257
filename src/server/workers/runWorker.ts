import { Registry } from 'prom-client';
import { ApiKeyReplica } from '../../ethereum/gateway/index.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import type { PrimaryCalls, ToPrimary, WorkerCalls } from './calls.ts';
import type { FollowedNetwork } from './followNetwork.ts';
import { Link, type Message } from './link.ts';
import { type OpenLog, openWorker, type WorkerServer } from './workerServer.ts';

/** Serves the gateway in a process that the first process forked, and ends with it. Never resolves. */
export function runWorker(openLog: OpenLog): Promise<never> {
  const registry = new Registry();
  const keys = new ApiKeyReplica();
  /** The last received state of each network, also of networks that are not open yet. */
  const states = new Map<string, NetworkState>();
  const networks = new Map<string, FollowedNetwork>();
  let server: WorkerServer | undefined;
  let opening: Promise<WorkerServer> | undefined;
  const primary: ToPrimary = new Link<WorkerCalls, PrimaryCalls>((message) => process.send?.(message), {
    async begin(beginning) {
      opening = openWorker(beginning, { primary, registry, keys, openLog, states, networks });
      server = await opening;
      return { url: server.url };
    },
    ping: () => undefined,
    state({ network, state }) {
      states.set(network, state);
      networks.get(network)?.follow(state);
    },
    keys: (changes) => keys.apply(changes),
    accepted: ({ network, ...transaction }) => networks.get(network)?.accepted(transaction),
    followed: ({ network, change }) => networks.get(network)?.followed(change),
    settle: () => server?.refresh(),
    metrics: () => registry.getMetricsAsJSON(),
    async leave(how) {
      await opening?.then((opened) => opened.leave(how)).catch(() => undefined);
      return registry.getMetricsAsJSON();
    },
  });
  process.on('message', (message) => primary.received(message as Message)); // the first process sends only this type
  primary.tell('up', undefined);
  return new Promise<never>(() => undefined);
}
