/** What the options of `dns` mean for the guard and its data planes. Throws `ConfigError` where they do not fit together. */
import { join } from 'node:path';
import { type Config, ConfigError } from '../config/index.ts';
import type { GuardOptions } from '../dns/controller/index.ts';
import type { DnsdistOptions } from '../dns/dataplane/dnsdist/index.ts';
import type { EmbeddedOptions } from '../dns/dataplane/embedded/index.ts';
import type { DnsServer } from '../dns/dataplane/index.ts';
import { nameToWire } from '../dns/protocol/index.ts';
import { BadNetworkError, type Network, parseNetwork } from '../platform/addresses/index.ts';
import { addressOf } from './address.ts';
import { zoneSourcesOf } from './zoneSources.ts';

const DAY_MS = 24 * 3_600_000;
const PERCENT = 100;
const UDP_ALONE = /\/udp$/;

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
    servers: serversOf(dns),
    probeName: probeNameOf(dns),
    responseRateLimit: dns.responseRateLimit,
    timeoutMs: dns.timeoutMs,
    workers: dns.workers,
    transfersAllow: dns.transfers.allow.map(networkOf),
  };
}

function serversOf({ servers, proxyProtocolServers }: Config['dns']): DnsServer[] {
  const stranger = proxyProtocolServers.find((text) => !servers.includes(text.replace(UDP_ALONE, '')));
  if (stranger !== undefined)
    throw new ConfigError(
      `dns.proxyProtocolServers names ${JSON.stringify(stranger)}; allowed are the addresses in dns.servers, as they are written there: ${servers.join(', ')}`,
    );
  return servers.map((text) => ({
    ...addressOf(text, 'dns.servers'),
    proxyProtocol: proxyProtocolServers.includes(text)
      ? 'udp and tcp'
      : proxyProtocolServers.includes(`${text}/udp`)
        ? 'udp'
        : undefined,
  }));
}

function probeNameOf({ probeName, zones: [first] }: Config['dns']): string | undefined {
  if (probeName !== undefined) return checkName(probeName, 'dns.probeName');
  return first === undefined ? undefined : checkName(first.slice(0, first.indexOf('=')), 'dns.zones');
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

/** Throws `ConfigError` where a name is none. */
function checkName(name: string, option: string): string {
  try {
    nameToWire(name);
  } catch (error) {
    throw new ConfigError(`${option}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return name;
}
