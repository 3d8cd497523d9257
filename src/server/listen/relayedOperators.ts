import type { Config } from '../../config/index.ts';
import type { ListenerContent } from '../../platform/http/index.ts';
import { openedPartsOf } from '../roles.ts';
import { operatorsPathsOf } from './operatorRoutes.ts';
import { type RequestReaders, relayPathOf } from './relayedRequests.ts';

export interface RelayedOperators extends Pick<ListenerContent, 'routes' | 'paths'> {
  endStreams(): void;
  close(): void;
}

/** Forwards operators' requests to the first process. Returns undefined if operators have their own listener. */
export async function relayedOperators(
  config: Config,
  readers: RequestReaders,
): Promise<RelayedOperators | undefined> {
  const path = relayPathOf(config);
  if (path === undefined) return undefined;
  // This module is loaded on demand, because only workers need undici for it.
  const { OperatorsRelay } = await import('./operatorsRelay.ts');
  const relay = new OperatorsRelay(path, readers);
  return {
    paths: operatorsPathsOf(openedPartsOf(config)),
    async routes(listener) {
      listener.addHook('onRequest', (request, reply, done) => {
        if (!request.is404) return done();
        relay.handle(request.raw, reply.raw);
        reply.hijack();
      });
    },
    endStreams: () => relay.endStreams(),
    close: () => relay.close(),
  };
}
