import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import { consoleRoutes, type SignInCode } from '../console/index.ts';
import type { FleetStore } from '../dns/fleet/index.ts';
import { SERVED_METHODS, SUBSCRIBE } from '../ethereum/gateway/index.ts';
import type { ClientAddress } from '../platform/addresses/index.ts';
import { operations, type Readiness, type Shown } from '../platform/http/index.ts';
import type { Tracer } from '../platform/spans/index.ts';
import { operatorApi, type RateLimit, rulesApi, TokenUses } from '../rules/api/index.ts';
import type { RulesStorage } from '../rules/index.ts';
import type { Dns } from './dns.ts';
import type { Ethereum } from './ethereum.ts';
import { gatewayKeys } from './gatewayKeys.ts';
import { guardAnswers } from './guardAnswers.ts';
import { healthOf } from './health.ts';
import type { HealthHistory } from './healthHistory.ts';
import { nodeOperations } from './nodeOperations.ts';
import { countRulesRequests } from './serverMetrics.ts';

export interface OperatorRoutesOptions {
  readonly storage: RulesStorage;
  readonly ethereum: Ethereum | undefined;
  readonly dns: Dns | undefined;
  readonly fleet: FleetStore | undefined;
  readonly registry: Registry;
  readonly clientAddress: ClientAddress;
  readonly readiness: () => Readiness;
  readonly history: HealthHistory;
  readonly signInCode: SignInCode | undefined;
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
}

/** What operators and their tools use: health, metrics, the rules API, the console, and the operations of the nodes. */
export function operatorRoutes(config: Config, options: OperatorRoutesOptions): Shown['routes'] {
  const { storage, ethereum, dns, fleet, registry, clientAddress, readiness, history, logger, tracer } =
    options;
  const { signInCode } = options;
  const configuredTokens = config.apiToken === undefined ? [] : [config.apiToken];
  const { rules, lists, tokens, audit } = storage;
  const answered = countRulesRequests(registry);
  const keys =
    ethereum &&
    gatewayKeys(
      {
        methods: [...SERVED_METHODS, SUBSCRIBE, ...config.gateway.extraMethods],
        networks: () =>
          [...ethereum.pools].map(([network, { chainId }]) => ({
            network,
            ...(chainId !== undefined && { chain_id: chainId }),
          })),
      },
      { keys: ethereum.keys, lastUses: ethereum.keyUses, registry },
    );
  return async (listener) => {
    const uses = new TokenUses(tokens);
    await listener.register(operations, { readiness, metrics: registry });
    await listener.register(rulesApi, {
      ...{ rules, lists, tokens, audit, uses, keys, configuredTokens, clientAddress, tracer },
      prefix: '/client/v4',
      staleSeconds: () => storage.staleSeconds,
      ...guardAnswers(dns, fleet),
      answered,
      healthHistory: () => history.minutes,
      health: () => healthOf({ dataDir: config.dataDir, registry, readiness, ethereum, dns }),
      rateLimit: rateLimitOf(config),
    });
    if (config.console.enabled) await listener.register(consoleRoutes, { prefix: '/console', signInCode });
    if (ethereum !== undefined)
      await listener.register(operatorApi, {
        ...{ tokens, uses, configuredTokens },
        prefix: '/operations',
        routes: nodeOperations(ethereum.pools, logger),
      });
  };
}

function rateLimitOf({ rules }: Config): RateLimit | undefined {
  if (rules.rateLimitRequests === undefined) return undefined;
  return { requests: rules.rateLimitRequests, windowSeconds: rules.rateLimitWindowSeconds };
}
