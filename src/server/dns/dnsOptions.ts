/** Converts `dns` options to options of the guard and its data planes. Throws ConfigError if they contradict. */
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError } from '../../config/index.ts';
import type { GuardOptions } from '../../dns/controller/index.ts';
import type { DnsdistOptions } from '../../dns/dataplane/dnsdist/index.ts';
import { type EmbeddedOptions, maxDescriptors } from '../../dns/dataplane/embedded/index.ts';
import type { DnsServer } from '../../dns/dataplane/index.ts';
import { nameToWire } from '../../dns/protocol/index.ts';
import {
  BadNetworkError,
  type Network,
  parseNetwork,
  plainAddress,
  type ServerAddress,
} from '../../platform/addresses/index.ts';
import { addressOf } from '../listen/address.ts';
import { zoneSourcesOf } from './zoneSources.ts';

const UDP_ALONE = /\/udp$/;

export const guardOptionsOf = ({ dns }: Config): GuardOptions => ({
  place: { region: dns.region, datacenter: dns.datacenter },
  zones: zoneSourcesOf(dns),
  detector: {
    profile: { maxNames: dns.maxNames },
    limitAction: dns.limitAction,
    learnForMinutes: dns.learnForMinutes,
    thresholds: dns.thresholds,
  },
});

export function embeddedOptionsOf({ dns }: Config): EmbeddedOptions {
  if (dns.servers.length === 0)
    throw new ConfigError(
      'dns.servers is empty: set the addresses of the upstream DNS servers, like 192.0.2.1:53',
    );
  const listen = dns.listen.map((text) => addressOf(text, 'dns.listen'));
  const servers = serversOf(dns);
  const itself = servers.findIndex((server) => listen.some((address) => reaches(server, address)));
  if (itself !== -1)
    throw new ConfigError(
      `dns.servers contains ${JSON.stringify(dns.servers[itself])}, where the guard itself listens (dns.listen: ${dns.listen.join(', ')}); use another address or port for the server or the guard`,
    );
  return {
    listen,
    servers,
    probeName: probeNameOf(dns),
    responseRateLimit: dns.responseRateLimit,
    timeoutMs: dns.timeoutMs,
    threads: dns.threads,
    tcpMaxQueries: dns.tcpMaxQueries,
    transfersAllow: dns.transfers.allow.map(networkOf),
  };
}

/** Whether queries to a server would arrive at an address on which the guard listens, and so would loop forever. */
function reaches(server: ServerAddress, { host, port }: ServerAddress): boolean {
  if (server.port !== port) return false;
  const target = parseNetwork(server.host).address;
  const own = parseNetwork(host).address;
  if (target === own) return true;
  if (own !== ANY_IPV4 && own !== ANY_IPV6) return false;
  // A socket on :: receives IPv4 as well.
  return isLocal(target) && (own === ANY_IPV6 || isIPv4(target));
}

const ANY_IPV4 = '0.0.0.0';
const ANY_IPV6 = parseNetwork('::').address;
const IPV6_LOOPBACK = parseNetwork('::1').address;

function isLocal(address: string): boolean {
  if ([ANY_IPV4, ANY_IPV6, IPV6_LOOPBACK].includes(address) || address.startsWith('127.')) return true;
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return interfaces.some((one) => parseNetwork(plainAddress(one.address)).address === address);
}

/** Checks the options of the guard without reading files: the TSIG keys of transfers only if no file has keys. */
export function checkDnsOptions(config: Config): void {
  if (config.dns.dnsdistConsoles.length > 0) dnsdistOptionsOf(config);
  else embeddedOptionsOf(config);
  if (config.dns.tsigKeyFiles.length === 0) zoneSourcesOf(config.dns);
}

/** Returns the number of descriptors that the guard may open. A guard with dnsdist needs only a few. */
export const dnsDescriptorsOf = (config: Config): number =>
  config.dns.dnsdistConsoles.length > 0 ? 0 : maxDescriptors(embeddedOptionsOf(config));

function serversOf({ servers, proxyProtocolServers }: Config['dns']): DnsServer[] {
  const stranger = proxyProtocolServers.find((text) => !servers.includes(text.replace(UDP_ALONE, '')));
  if (stranger !== undefined)
    throw new ConfigError(
      `dns.proxyProtocolServers contains ${JSON.stringify(stranger)}; allowed: addresses in dns.servers, written the same way: ${servers.join(', ')}`,
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
    throw new ConfigError('dns.dnsdistKey is required: use the value passed to setKey() in dnsdist.conf');
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

function checkName(name: string, option: string): string {
  try {
    nameToWire(name);
  } catch (error) {
    throw new ConfigError(`${option}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return name;
}
