import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError } from '../config/index.ts';
import { analyticsOf, InvalidAnalyticsQuery } from '../dns/analytics/index.ts';
import { driveDnsdist, registerDnsdistMetrics } from '../dns/dataplane/dnsdist/index.ts';
import { registerDnsMetrics, registerGuardMetrics, startGuard } from '../dns/dataplane/embedded/index.ts';
import { nameToWire } from '../dns/protocol/index.ts';
import { DnsStore } from '../dns/store/lmdb/index.ts';
import type { MissingZone, ZoneSource } from '../dns/zones/index.ts';
import {
  BadNetworkError,
  type Network,
  parseNetwork,
  type ServerAddress,
} from '../platform/addresses/index.ts';
import type { RuleAnalytics } from '../rules/api/index.ts';
import { InvalidRule, type RuleStore } from '../rules/index.ts';

/** The DNS half of the server: the guard in front of the configured servers, and what it tells of itself. */
export interface Dns {
  /** Where the guard answers DNS. */
  readonly addresses: readonly ServerAddress[];
  /** Answers `GET …/rules/{rule_id}/analytics`. */
  readonly analytics: RuleAnalytics;
  /** What is not as configured yet, for whoever looks: DNS is answered all the same. Undefined where nothing is missing. */
  missing(): string | undefined;
  stop(): Promise<void>;
}

const DAY_MS = 24 * 3_600_000;
const PERCENT = 100;
const TRANSFER = 'axfr:';

/** Starts the guard for `config.dns.account`. Throws `ConfigError` where its options do not fit together. */
export async function startDns(
  config: Config,
  account: string,
  rules: RuleStore,
  logger: Logger,
  registry: Registry,
): Promise<Dns> {
  const { dns } = config;
  const drives = dns.dnsdistConsoles.length > 0;
  if (!drives && dns.servers.length === 0)
    throw new ConfigError('dns.servers is empty: name the DNS servers behind the guard, like 192.0.2.1:53');
  const store = new DnsStore(config.dataDir);
  try {
    const options = commonOptions(config, account, rules, store, logger);
    const { guard, addresses } = drives
      ? await startDriver(config, options, registry)
      : await startProxy(config, options, registry);
    logger.info({ account, dns: addresses.map(textOf) }, drives ? 'driving dnsdist' : 'guarding DNS');
    return {
      addresses,
      analytics: asRuleAnalytics(analyticsOf({ ...guard, store, now: Date.now })),
      missing: () => missingOf(guard.seeding.missing(), 'servers' in guard ? guard.servers : []),
      async stop() {
        await guard.stop();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

type CommonOptions = ReturnType<typeof commonOptions>;

/** What both data planes are started with. */
function commonOptions({ dns }: Config, account: string, rules: RuleStore, store: DnsStore, log: Logger) {
  return {
    place: { region: dns.region, datacenter: dns.datacenter },
    zones: dns.zones.map(zoneOf),
    transfersAllow: dns.transfers.allow.map(networkOf),
    rules: {
      list: () => rules.list(account),
      onChange: (listener: () => void) => rules.onChange((changed) => changed === account && listener()),
    },
    detector: {
      profile: { maxNames: dns.maxNames, windowMs: dns.windowDays * DAY_MS },
      refuseWith: dns.refuseWith,
      learnForMinutes: dns.learnForMinutes,
      multipliers: {
        low: dns.lowPercent / PERCENT,
        medium: dns.mediumPercent / PERCENT,
        high: dns.highPercent / PERCENT,
      },
    },
    profileStore: store,
    queryStatsStore: store,
    log,
  };
}

async function startProxy({ dns }: Config, options: CommonOptions, registry: Registry) {
  const guard = await startGuard({
    ...options,
    listen: dns.listen.map((text) => addressOf(text, 'dns.listen')),
    servers: dns.servers.map((text) => addressOf(text, 'dns.servers')),
    timeoutMs: dns.timeoutMs,
    workers: dns.workers,
  }).catch(explainListening);
  registerDnsMetrics(guard, registry);
  return { guard, addresses: guard.addresses };
}

/** An address that cannot be listened on is for the operator to mend. */
function explainListening(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof Error && ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes(code))
    throw new ConfigError(
      `dns.listen: ${error.message}. Name an address of this machine and a port that is free`,
    );
  throw error;
}

async function startDriver({ dns, dataDir }: Config, options: CommonOptions, registry: Registry) {
  if (dns.dnsdistKey === undefined)
    throw new ConfigError('dns.dnsdistKey is missing: it is what setKey has in the configuration of dnsdist');
  const folder = dns.dnsdistFolder ?? join(dataDir, 'dnsdist');
  mkdirSync(folder, { recursive: true });
  const guard = await driveDnsdist({
    ...options,
    consoles: dns.dnsdistConsoles.map((text) => addressOf(text, 'dns.dnsdistConsoles')),
    key: dns.dnsdistKey,
    dnstap: addressOf(dns.dnstapListen, 'dns.dnstapListen'),
    folder,
  });
  registerGuardMetrics(guard, registry);
  registerDnsdistMetrics(guard, registry);
  return { guard, addresses: [] };
}

/** So many zones are named, the others counted. */
const MAX_ZONES_NAMED = 10;

function missingOf(
  zones: readonly MissingZone[],
  servers: readonly { readonly up: boolean }[],
): string | undefined {
  const named = zones
    .slice(0, MAX_ZONES_NAMED)
    .map(({ zone, reason }) => `${zone} (${reason ?? 'being read'})`)
    .join(', ');
  const others = zones.length > MAX_ZONES_NAMED ? ` and ${zones.length - MAX_ZONES_NAMED} more` : '';
  const parts = [
    ...(servers.length > 0 && servers.every(({ up }) => !up) ? ['no DNS server answers'] : []),
    ...(zones.length > 0 ? [`names not known yet: ${named}${others}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

/** The rules API has one error for whatever in a request is not as it should be. */
function asRuleAnalytics(analyticsFor: ReturnType<typeof analyticsOf>): RuleAnalytics {
  return (ruleId, query) => {
    try {
      return analyticsFor(ruleId, query);
    } catch (error) {
      if (error instanceof InvalidAnalyticsQuery) throw new InvalidRule([{ message: error.message }]);
      throw error;
    }
  };
}

/** The schema has seen to the form; the port may still be too large. */
function addressOf(text: string, option: string): ServerAddress {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (!(port <= 0xffff))
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; a port is at most 65535`);
  if (port === 0 && option !== 'dns.listen')
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; nobody can be reached at port 0`);
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port };
}

function networkOf(text: string): Network {
  try {
    return parseNetwork(text);
  } catch (error) {
    if (error instanceof BadNetworkError) throw new ConfigError(`dns.transfers.allow: ${error.message}`);
    throw error;
  }
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

function zoneOf(text: string): ZoneSource {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals);
  const source = text.slice(equals + 1);
  try {
    nameToWire(name);
  } catch (error) {
    throw new ConfigError(`dns.zones: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!source.startsWith(TRANSFER)) return { name, file: source };
  return { name, transferFrom: addressOf(source.slice(TRANSFER.length), 'dns.zones') };
}
