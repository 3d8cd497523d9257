import type { Config } from '../../config/index.ts';
import type { ListenerContent } from '../../platform/http/index.ts';
import { openedPartsOf } from '../roles.ts';
import { operatorsPathsOf } from './operatorRoutes.ts';
import { OperatorsRelay } from './operatorsRelay.ts';
import { type RequestReaders, relayPathOf } from './relayedRequests.ts';

export interface RelayedOperators extends Pick<ListenerContent, 'routes' | 'paths'> {
  endStreams(): void;
  close(): void;
}

/** Forwards operators' requests to the first process. Returns undefined if operators have their own listener. */
export function relayedOperators(config: Config, readers: RequestReaders): RelayedOperators | undefined {
  const path = relayPathOf(config);
  if (path === undefined) return undefined;
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
