import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Network, parseNetwork, type ServerAddress } from '../../platform/addresses/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';

interface DnsdistConfigOptions {
  readonly listen: ServerAddress;
  readonly servers: readonly ServerAddress[];
  readonly proxyProtocolServers: readonly ServerAddress[];
  readonly console: ServerAddress;
  readonly dnstap: ServerAddress;
  readonly transfersAllow: readonly Network[];
  readonly key?: string;
  readonly folder?: string;
}

/** 32 bytes, as dnsdist's makeKey() makes them. */
const KEY_BYTES = 32;

/** `floodgate dns dnsdist-config`: a dnsdist.conf for a node that Floodgate drives. */
export function registerDnsDnsdistConfig(dns: Command): void {
  dns
    .command('dnsdist-config')
    .description('print a dnsdist.conf for a node that Floodgate drives')
    .requiredOption('--listen <address>', 'where dnsdist answers DNS, like 192.0.2.53:53', addressOf)
    .requiredOption('--servers <addresses...>', 'the authoritative servers behind it', addAddress)
    .option(
      '--proxy-protocol-servers <addresses...>',
      'those of the servers that are told who asks, by PROXY protocol version 2 (dns.proxyProtocolServers)',
      addAddress,
      [],
    )
    .option(
      '--console <address>',
      'where Floodgate reaches its console',
      addressOf,
      addressOf('127.0.0.1:5199'),
    )
    .option(
      '--dnstap <address>',
      'where Floodgate hears dnstap (dns.dnstapListen)',
      addressOf,
      addressOf('127.0.0.1:5301'),
    )
    .addOption(
      new Option(
        '--transfers-allow <networks...>',
        'networks that may transfer zones, over TCP (dns.transfers.allow); nobody where left out',
      )
        .env('FLOODGATE_DNS_TRANSFERS_ALLOW')
        .default([], 'nobody')
        .argParser(addNetworks),
    )
    .addOption(
      new Option('--key <base64>', 'the key of the console (dns.dnsdistKey); a new one where left out')
        .env('FLOODGATE_DNS_DNSDIST_KEY')
        .argParser(keyOf),
    )
    .addOption(
      new Option(
        '--folder <folder>',
        'the folder of the names (dns.dnsdistFolder): what a dnsdist goes by that is started without Floodgate',
      ).env('FLOODGATE_DNS_DNSDIST_FOLDER'),
    )
    .action(
      async ({ key = randomBytes(KEY_BYTES).toString('base64'), ...addresses }: DnsdistConfigOptions) => {
        const { dnsdistConfiguration } = await import('../../dns/dataplane/dnsdist/index.ts');
        const servers = serversOf(addresses);
        await print(dnsdistConfiguration({ ...addresses, servers, key }).trimEnd());
      },
    );
}

function serversOf({ servers, proxyProtocolServers }: DnsdistConfigOptions) {
  const isSame = (one: ServerAddress) => (other: ServerAddress) =>
    one.host === other.host && one.port === other.port;
  const stranger = proxyProtocolServers.find((server) => !servers.some(isSame(server)));
  if (stranger !== undefined)
    throw new OperatorError(
      `--proxy-protocol-servers names ${stranger.host} port ${stranger.port}, which --servers does not`,
    );
  return servers.map((server) =>
    proxyProtocolServers.some(isSame(server)) ? { ...server, proxyProtocol: 'udp and tcp' as const } : server,
  );
}

/** Nothing but an address and a port gets into the Lua of the configuration. */
function addressOf(text: string): ServerAddress {
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[0-9.]+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 0xffff)
    throw new InvalidArgumentError('write an IP address and a port, like 192.0.2.53:53 or [2001:db8::53]:53');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

const addAddress = (text: string, before: readonly ServerAddress[] = []): readonly ServerAddress[] => [
  ...before,
  addressOf(text),
];

/** One or several at their commas, as a variable has them. */
function addNetworks(text: string, before: readonly Network[]): readonly Network[] {
  try {
    return [...before, ...text.split(',').map((network) => parseNetwork(network.trim()))];
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function keyOf(text: string): string {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text))
    throw new InvalidArgumentError('it is 32 bytes in base64, as makeKey() of dnsdist makes');
  return text;
}
