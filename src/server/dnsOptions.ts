/** What the options of `dns` mean for the guard and its data planes. Throws `ConfigError` where they do not fit together. */
import { join } from 'node:path';
import { type Config, ConfigError } from '../config/index.ts';
import type { GuardOptions } from '../dns/controller/index.ts';
import type { DnsdistOptions } from '../dns/dataplane/dnsdist/index.ts';
import type { EmbeddedOptions } from '../dns/dataplane/embedded/index.ts';
import { BadNetworkError, type Network, parseNetwork } from '../platform/addresses/index.ts';
import { addressOf } from './address.ts';
import { zoneSourcesOf } from './zoneSources.ts';

const DAY_MS = 24 * 3_600_000;
const PERCENT = 100;

export const guardOptionsOf = ({ dns }: Config): GuardOptions => ({
  place: { region: dns.region, datacenter: dns.datacenter },
  zones: zoneSourcesOf(dns),
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
});

export function embeddedOptionsOf({ dns }: Config): EmbeddedOptions {
  if (dns.servers.length === 0)
    throw new ConfigError('dns.servers is empty: name the DNS servers behind the guard, like 192.0.2.1:53');
  return {
    listen: dns.listen.map((text) => addressOf(text, 'dns.listen')),
    servers: dns.servers.map((text) => addressOf(text, 'dns.servers')),
    timeoutMs: dns.timeoutMs,
    workers: dns.workers,
    tcpMaxQueries: dns.tcpMaxQueries,
    transfersAllow: dns.transfers.allow.map(networkOf),
  };
}

export function dnsdistOptionsOf({ dns, dataDir }: Config): DnsdistOptions {
  if (dns.dnsdistKey === undefined)
    throw new ConfigError('dns.dnsdistKey is missing: it is what setKey has in the configuration of dnsdist');
  return {
    consoles: dns.dnsdistConsoles.map((text) => addressOf(text, 'dns.dnsdistConsoles')),
    key: dns.dnsdistKey,
    dnstap: addressOf(dns.dnstapListen, 'dns.dnstapListen'),
    folder: dns.dnsdistFolder ?? join(dataDir, 'dnsdist'),
    transfersAllow: dns.transfers.allow.map(networkOf),
  };
}

function networkOf(text: string): Network {
  try {
    return parseNetwork(text);
  } catch (error) {
    if (error instanceof BadNetworkError) throw new ConfigError(`dns.transfers.allow: ${error.message}`);
    throw error;
  }
}
