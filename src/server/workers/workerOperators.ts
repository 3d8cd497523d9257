import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import type { ClientAddress } from '../../platform/addresses/index.ts';
import type { Shown } from '../../platform/http/index.ts';
import type { Tracer } from '../../platform/spans/index.ts';
import { rulesApi, type TakenRequests, TokenUses } from '../../rules/api/index.ts';
import { openRules } from '../../rules/store/index.ts';
import { configuredTokensOf, operatorsPathsOf } from '../operatorRoutes.ts';
import { openedBy } from '../roles.ts';
import { countRulesRequests } from '../serverMetrics.ts';
import type { ToPrimary } from './followNetwork.ts';
import { OperatorsRelay, relayPathOf } from './operatorsRelay.ts';

/** The primary hears at least so often of tokens that were used, for the moment that is kept. */
const TELL_USES_MS = 1_000;

/** What operators use, as a worker shows it. */
export interface WorkerOperators extends Pick<Shown, 'routes' | 'paths'> {
  /** Requests with a token that the primary was not told of. */
  takeUses(): ReadonlyMap<string, TakenRequests>;
  /** Ends answers without an end. */
  endStreams(): void;
  close(): Promise<void>;
}

export interface WorkerOperatorsDependencies {
  readonly primary: ToPrimary;
  readonly clientAddress: ClientAddress;
  readonly registry: Registry;
  readonly tracer: Tracer | undefined;
  readonly logger: Logger;
}

/**
 * Rules, lists and audit are read here, in the store as it is at that moment: what is acknowledged is written, so that whoever hears of it
 * reads it. All else is brought to the primary, as is everything where the requests of a token are limited, which one process counts, and
 * where rules are in a database, with which one process is connected.
 * Undefined where operators have a listener of their own.
 */
export async function openWorkerOperators(
  config: Config,
  { primary, clientAddress, registry, tracer, logger }: WorkerOperatorsDependencies,
): Promise<WorkerOperators | undefined> {
  const path = relayPathOf(config);
  if (path === undefined) return undefined;
  const opened = openedBy(config);
  const relay = new OperatorsRelay(path, { clientAddress });
  const { store, rateLimitRequests } = config.rules;
  const readsRules = opened.has('rulesApi') && store === undefined && rateLimitRequests === undefined;
  const storage = readsRules
    ? await openRules({ dataDir: config.dataDir, url: undefined }, { log: logger })
    : undefined;
  const uses = new TokenUses({ lastUses: async () => new Map(), noteUses: async () => undefined });
  const tellUses = (): void => {
    const taken = uses.take();
    if (taken.size > 0) primary.tell('usedTokens', taken);
  };
  const telling = setInterval(tellUses, TELL_USES_MS).unref();
  return {
    paths: operatorsPathsOf(opened),
    async routes(listener) {
      listener.addHook('onRequest', (request, reply, done) => {
        if (!request.is404) return done();
        relay.handle(request.raw, reply.raw);
        reply.hijack();
      });
      if (storage === undefined) return;
      const { rules, lists, tokens, audit } = storage;
      await listener.register(rulesApi, {
        ...{ rules, lists, tokens, audit, uses, clientAddress, tracer },
        configuredTokens: configuredTokensOf(config),
        answered: countRulesRequests(registry),
        ...{ prefix: '/client/v4', isReader: true },
      });
    },
    takeUses: () => uses.take(),
    endStreams: () => relay.endStreams(),
    async close() {
      clearInterval(telling);
      tellUses();
      relay.close();
      await storage?.close();
    },
  };
}
