import { Registry } from 'prom-client';
import { ApiKeyReplica } from '../../ethereum/gateway/index.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import type { PrimaryCalls, WorkerCalls } from './calls.ts';
import type { FollowedNetwork, ToPrimary } from './followNetwork.ts';
import { Link, type Message } from './link.ts';
import { type OpenLog, openWorker, type WorkerServer } from './workerServer.ts';

/** The message channel from a worker to the first process, which forked it. */
export interface ToParent {
  readonly send: (message: unknown) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
}

/** Serves the gateway as a worker. The process ends with the first process, so the promise never resolves. */
export function runWorker(parent: ToParent, openLog: OpenLog): Promise<never> {
  const registry = new Registry();
  const keys = new ApiKeyReplica();
  /** The last received state of each network, also of networks that are not open yet. */
  const states = new Map<string, NetworkState>();
  const networks = new Map<string, FollowedNetwork>();
  let server: WorkerServer | undefined;
  let opening: Promise<WorkerServer> | undefined;
  const primary: ToPrimary = new Link<WorkerCalls, PrimaryCalls>(parent.send, {
    begin(beginning) {
      for (const [name, state] of beginning.states) states.set(name, state);
      if (beginning.keys !== undefined) keys.apply(beginning.keys);
      opening = openWorker(beginning, { primary, registry, keys, openLog, states, networks });
      opening.then(
        (opened) => {
          server = opened;
          primary.tell('listening', { url: opened.url });
        },
        (error: unknown) => {
          const { name, message } = error instanceof Error ? error : new Error(String(error));
          primary.tell('failed', { name, message });
        },
      );
    },
    ping: () => undefined,
    state({ network, state }) {
      states.set(network, state);
      networks.get(network)?.follow(state);
    },
    keys: (changes) => keys.apply(changes),
    followed: ({ network, change }) => networks.get(network)?.followed(change),
    settle: () => server?.refresh(),
    metrics: () => registry.getMetricsAsJSON(),
    async leave(how) {
      await opening?.then((opened) => opened.leave(how)).catch(() => undefined);
      return registry.getMetricsAsJSON();
    },
  });
  parent.onMessage((message) => primary.received(message as Message)); // the first process sends only this type
  primary.tell('up', undefined);
  return new Promise<never>(() => undefined);
}
