import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import { consoleRoutes, type SignInCode } from '../console/index.ts';
import type { FleetStore } from '../dns/fleet/index.ts';
import { SERVED_METHODS, SUBSCRIBE } from '../ethereum/gateway/index.ts';
import type { ClientAddress } from '../platform/addresses/index.ts';
import { operations, type Readiness, type Shown } from '../platform/http/index.ts';
import type { Tracer } from '../platform/spans/index.ts';
import { operatorApi, type RateLimit, rulesApi, type TokenUses } from '../rules/api/index.ts';
import type { RulesStorage } from '../rules/index.ts';
import type { Dns } from './dns.ts';
import type { Ethereum } from './ethereum.ts';
import { gatewayKeys } from './gatewayKeys.ts';
import { guardAnswers } from './guardAnswers.ts';
import { healthOf } from './health.ts';
import type { HealthHistory } from './healthHistory.ts';
import type { ReadMetrics } from './metricSums.ts';
import { nodeOperations } from './nodeOperations.ts';
import type { Opened } from './roles.ts';
import { countRulesRequests } from './serverMetrics.ts';

export interface OperatorRoutesOptions {
  readonly opened: Opened;
  /** None where neither rules nor API keys are looked at. */
  readonly storage: RulesStorage | undefined;
  /** Of the tokens in there. */
  readonly uses: TokenUses | undefined;
  readonly ethereum: Ethereum | undefined;
  readonly dns: Dns | undefined;
  readonly fleet: FleetStore | undefined;
  readonly registry: Registry;
  readonly metrics: ReadMetrics;
  /** Resolves when a change of keys counts in each process. */
  readonly keysSettled: () => Promise<void>;
  readonly clientAddress: ClientAddress;
  readonly readiness: () => Readiness;
  readonly history: HealthHistory;
  readonly signInCode: SignInCode | undefined;
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
}

/** What operators and their tools use: health, metrics, the rules API, the console, and the operations of the nodes. */
export function operatorRoutes(config: Config, options: OperatorRoutesOptions): Shown['routes'] {
  const { opened, storage, uses, ethereum, metrics, readiness, logger, signInCode } = options;
  const { roles } = opened;
  const api = storage && opened.has('rulesApi') ? apiOptions(config, { ...options, storage }) : undefined;
  const configuredTokens = configuredTokensOf(config);
  return async (listener) => {
    await listener.register(operations, { roles, readiness, metrics });
    if (storage === undefined || uses === undefined) return;
    const { tokens } = storage;
    if (api !== undefined) await listener.register(rulesApi, { ...api, uses, prefix: '/client/v4' });
    if (api !== undefined && config.console.enabled)
      await listener.register(consoleRoutes, { prefix: '/console', signInCode });
    if (ethereum !== undefined)
      await listener.register(operatorApi, {
        ...{ tokens, uses, configuredTokens },
        prefix: '/operations',
        routes: nodeOperations(ethereum.pools, logger),
      });
  };
}

export const operatorsPathsOf = (opened: Opened): readonly string[] => [
  ...(opened.has('rulesApi') ? ['/client/v4'] : []),
  ...['/healthz', '/readyz', '/metrics'],
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
  const { clientAddress, readiness, history, tracer } = options;
  const { rules, lists, tokens, audit } = storage;
  const keys =
    ethereum &&
    opened.has('gateway') &&
    gatewayKeys(
      {
        methods: [...SERVED_METHODS, SUBSCRIBE, ...config.gateway.extraMethods],
        networks: () =>
          [...ethereum.pools].map(([network, { chainId }]) => ({
            network,
            ...(chainId !== undefined && { chain_id: chainId }),
          })),
      },
      { keys: ethereum.keys, lastUses: ethereum.keyUses, metrics, settled: options.keysSettled },
    );
  return {
    ...{ rules, lists, tokens, audit, keys: keys || undefined, clientAddress, tracer },
    configuredTokens: configuredTokensOf(config),
    staleSeconds: () => storage.staleSeconds,
    ...guardAnswers(dns, fleet),
    answered: countRulesRequests(registry),
    healthHistory: () => history.minutes,
    health: () =>
      healthOf({ dataDir: config.dataDir, metrics, readiness, ethereum, dns, roles: opened.roles }),
    rateLimit: rateLimitOf(config),
  };
}

interface WithStorage {
  readonly storage: RulesStorage;
}

export const configuredTokensOf = ({ apiToken }: Config): readonly string[] =>
  apiToken === undefined ? [] : [apiToken];

function rateLimitOf({ rules }: Config): RateLimit | undefined {
  if (rules.rateLimitRequests === undefined) return undefined;
  return { requests: rules.rateLimitRequests, windowSeconds: rules.rateLimitWindowSeconds };
}
