import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import type { FleetStore } from '../../dns/fleet/index.ts';
import { SERVED_METHODS, SUBSCRIBE } from '../../ethereum/gateway/index.ts';
import type { ClientAddress } from '../../platform/addresses/index.ts';
import { type ListenerContent, operations, type Readiness } from '../../platform/http/index.ts';
import type { Tracer } from '../../platform/spans/index.ts';
import {
  type AlertReports,
  operatorApi,
  type RateLimit,
  rulesApi,
  type TokenUses,
} from '../../rules/api/index.ts';
import type { RulesStorage } from '../../rules/index.ts';
import { consoleRoutes } from '../console/consoleRoutes.ts';
import type { NameFiles } from '../console/nameFiles.ts';
import type { OpenedSessions } from '../console/openSessions.ts';
import { sessionRoutes } from '../console/sessionRoutes.ts';
import { startPage } from '../console/startPage.ts';
import { configuredTokensOf } from '../data/configuredTokens.ts';
import type { Dns } from '../dns/dns.ts';
import { guardApiHandlers } from '../dns/guardApiHandlers.ts';
import { type TestFlood, testFloodRoute } from '../dns/testFlood.ts';
import type { Ethereum } from '../ethereum/ethereum.ts';
import { gatewayKeys } from '../ethereum/gatewayKeys.ts';
import { nodeOperations } from '../ethereum/nodeOperations.ts';
import { healthOf } from '../health/health.ts';
import type { HealthHistory } from '../health/healthHistory.ts';
import type { ReadMetrics } from '../health/metricSums.ts';
import { countRulesRequests } from '../health/serverMetrics.ts';
import type { OpenedParts } from '../roles.ts';
import type { Tuning } from '../tuning.ts';

export interface OperatorRoutesOptions {
  readonly opened: OpenedParts;
  /** Undefined if this server uses neither rules nor API keys. */
  readonly storage: RulesStorage | undefined;
  readonly uses: TokenUses | undefined;
  readonly ethereum: Ethereum | undefined;
  readonly dns: Dns | undefined;
  readonly fleet: FleetStore | undefined;
  readonly registry: Registry;
  readonly metrics: ReadMetrics;
  readonly keysSettled: () => Promise<void>;
  readonly clientAddress: ClientAddress;
  readonly readiness: () => Readiness;
  readonly history: HealthHistory;
  /** Sessions of the console; undefined without a console. */
  readonly console: OpenedSessions | undefined;
  readonly testFlood: TestFlood | undefined;
  readonly nameFiles: NameFiles;
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
  readonly tuning: Tuning;
  readonly alerting: AlertReports | undefined;
}

/** Window of the rate limit of the rules API, the same as in Cloudflare's API. */
const RATE_LIMIT_WINDOW_SECONDS = 300;

/** Returns the routes for operators: health, metrics, the rules API, the console and the operations of the nodes. */
export function operatorRoutes(config: Config, options: OperatorRoutesOptions): ListenerContent['routes'] {
  const { opened, storage, uses, ethereum, metrics, readiness, logger, clientAddress, testFlood } = options;
  const sessions = options.console?.sessions;
  const { roles } = opened;
  const api = storage && opened.has('rulesApi') ? apiOptions(config, { ...options, storage }) : undefined;
  const configuredTokens = configuredTokensOf(config);
  return async (listener) => {
    await listener.register(operations, { roles, readiness, metrics });
    if (storage === undefined || uses === undefined) return;
    const { tokens } = storage;
    if (api !== undefined)
      await listener.register(rulesApi, { ...api, uses, consoleSessions: sessions, prefix: '/client/v4' });
    if (api !== undefined) {
      await listener.register(startPage, { hasConsole: sessions !== undefined });
      if (sessions !== undefined) {
        const prefix = '/console';
        await listener.register(consoleRoutes, { prefix });
        await listener.register(sessionRoutes, {
          prefix,
          tokens,
          uses,
          sessions,
          configuredTokens,
          clientAddress,
        });
      }
    }
    const added = [
      ...(ethereum === undefined ? [] : nodeOperations(ethereum.networks, logger)),
      ...(testFlood === undefined ? [] : [testFloodRoute(testFlood)]),
    ];
    if (added.length > 0)
      await listener.register(operatorApi, {
        tokens,
        uses,
        consoleSessions: sessions,
        configuredTokens,
        routes: added,
        prefix: '/operations',
      });
  };
}

export const operatorsPathsOf = (opened: OpenedParts): readonly string[] => [
  ...(opened.has('rulesApi') ? ['/client/v4'] : []),
  '/healthz',
  '/readyz',
  '/metrics',
];

function apiOptions(
  config: Config,
  {
    opened,
    storage,
    ethereum,
    dns,
    fleet,
    registry,
    metrics,
    ...options
  }: OperatorRoutesOptions & WithStorage,
) {
  const { clientAddress, readiness, history, tracer, nameFiles } = options;
  const { rules, lists, zonePolicies, tokens, audit } = storage;
  const keys =
    ethereum &&
    opened.has('gateway') &&
    gatewayKeys(
      {
        methods: [...SERVED_METHODS, SUBSCRIBE, ...config.gateway.extraMethods],
        networks: () =>
          [...ethereum.networks].map(
            ([
              network,
              {
                pool: { chainId },
              },
            ]) => ({
              network,
              ...(chainId !== undefined && { chain_id: chainId }),
            }),
          ),
      },
      { keys: ethereum.keys, lastUses: ethereum.keyUses, metrics, settled: options.keysSettled },
    );
  return {
    rules,
    lists,
    zonePolicies,
    tokens,
    audit,
    keys: keys || undefined,
    clientAddress,
    tracer,
    configuredTokens: configuredTokensOf(config),
    staleSeconds: () => storage.staleSeconds,
    ...guardApiHandlers({ dns, fleet, testFlood: options.testFlood }),
    answered: countRulesRequests(registry),
    names: () => nameFiles.names,
    alerts: options.alerting ?? NO_ALERTS,
    healthHistory: () => history.minutes,
    health: () =>
      healthOf({ dataDir: config.dataDir, metrics, readiness, ethereum, dns, roles: opened.roles }),
    rateLimit: rateLimitOf(config, options.tuning),
  };
}

const NO_ALERTS: AlertReports = {
  report: () => ({ webhooks: [], is_signed: false, history: [] }),
  test: async () => [],
};

interface WithStorage {
  readonly storage: RulesStorage;
}

function rateLimitOf({ rules }: Config, tuning: Tuning): RateLimit | undefined {
  if (rules.rateLimitRequests === undefined) return undefined;
  const { rateLimitWindowSeconds: windowSeconds = RATE_LIMIT_WINDOW_SECONDS } = tuning;
  return { requests: rules.rateLimitRequests, windowSeconds };
}
