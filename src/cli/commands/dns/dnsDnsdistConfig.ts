import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Network, parseNetwork, type ServerAddress } from '../../../platform/addresses/index.ts';
import { UsageError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';

interface DnsdistConfigOptions {
  readonly listen: readonly ServerAddress[];
  readonly servers: readonly ServerAddress[];
  readonly proxyProtocolServers: readonly ServerAddress[];
  readonly console: ServerAddress;
  readonly dnstap: ServerAddress;
  readonly transfersAllow: readonly Network[];
  readonly key?: string;
  readonly folder?: string;
}

/** Length in bytes of the key that dnsdist's makeKey() creates. */
const KEY_BYTES = 32;

/** `floodgate dns dnsdist-config`: prints a dnsdist.conf for a node that Floodgate controls. */
export function registerDnsDnsdistConfig(dns: Command): void {
  dns
    .command('dnsdist-config')
    .description('print a dnsdist.conf for a node that Floodgate controls')
    .requiredOption(
      '--listen <addresses...>',
      'addresses on which dnsdist answers DNS, like 192.0.2.53:53',
      addAddress,
    )
    .requiredOption('--servers <addresses...>', 'addresses of the authoritative servers', addAddress)
    .addOption(
      new Option(
        '--proxy-protocol-servers <addresses...>',
        'servers that receive the client address by PROXY protocol version 2 (dns.proxyProtocolServers)',
      )
        .default([], 'none')
        .argParser(addAddress),
    )
    .addOption(
      new Option('--console <address>', 'address of the dnsdist console, for Floodgate')
        .default(addressOf('127.0.0.1:5199'), '127.0.0.1:5199')
        .argParser(addressOf),
    )
    .addOption(
      new Option('--dnstap <address>', 'address on which Floodgate receives dnstap (dns.dnstapListen)')
        .default(addressOf('127.0.0.1:5301'), '127.0.0.1:5301')
        .argParser(addressOf),
    )
    .addOption(
      new Option(
        '--transfers-allow <networks...>',
        'networks that may transfer zones over TCP (dns.transfers.allow)',
      )
        .env('FLOODGATE_DNS_TRANSFERS_ALLOW')
        .default([], 'none')
        .argParser(addNetworks),
    )
    .addOption(
      new Option('--key <base64>', 'key of the console (dns.dnsdistKey). Default: a new key')
        .env('FLOODGATE_DNS_DNSDIST_KEY')
        .argParser(keyOf),
    )
    .addOption(
      new Option(
        '--folder <folder>',
        'folder of the known names (dns.dnsdistFolder), which dnsdist also reads if it starts without Floodgate',
      ).env('FLOODGATE_DNS_DNSDIST_FOLDER'),
    )
    .action(
      async ({ key = randomBytes(KEY_BYTES).toString('base64'), ...addresses }: DnsdistConfigOptions) => {
        const { dnsdistConfiguration } = await import('../../../dns/dataplane/dnsdist/index.ts');
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
    throw new UsageError(
      `--proxy-protocol-servers contains ${stranger.host} port ${stranger.port}, which is not in --servers`,
    );
  return servers.map((server) =>
    proxyProtocolServers.some(isSame(server)) ? { ...server, proxyProtocol: 'udp and tcp' as const } : server,
  );
}

/** Accepts only an address and port, because the string is inserted into the Lua configuration. */
function addressOf(text: string): ServerAddress {
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[0-9.]+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 0xffff)
    throw new InvalidArgumentError(
      'It must be an IP address and a port, like 192.0.2.53:53 or [2001:db8::53]:53.',
    );
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

const addAddress = (text: string, before: readonly ServerAddress[] = []): readonly ServerAddress[] => [
  ...before,
  addressOf(text),
];

/** Adds networks separated by commas, as in the environment variable. */
function addNetworks(text: string, before: readonly Network[]): readonly Network[] {
  try {
    return [...before, ...text.split(',').map((network) => parseNetwork(network.trim()))];
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function keyOf(text: string): string {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text))
    throw new InvalidArgumentError('It must be 32 bytes in base64, from makeKey() of dnsdist.');
  return text;
}
