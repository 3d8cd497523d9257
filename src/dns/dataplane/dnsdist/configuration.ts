import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import type { DnsServer } from '../index.ts';
import { luaText } from './luaText.ts';
import { refusalRule, refusalsOf } from './refusals.ts';
import { RULES_LOADER } from './rulesLoader.ts';

export interface DnsdistConfiguration {
  readonly listen: ServerAddress;
  readonly servers: readonly DnsServer[];
  readonly console: ServerAddress;
  /** Key of the dnsdist console: 32 bytes in base64. */
  readonly key: string;
  readonly dnstap: ServerAddress;
  readonly transfersAllow: readonly Network[];
  /** Folder for known names and rules. dnsdist reads it when it starts, so it has rules even without Floodgate. */
  readonly folder?: string | undefined;
}

/** Socket buffer size for bursts. With the default size, dnsdist lost legitimate queries during a measured flood. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
/** Query limit per TCP connection. Without one, old versions of dnsdist are vulnerable to CVE-2025-30193. */
const MAX_TCP_QUERIES = 50;
/** Options of dnsdist's dnstap logger: the largest queues that it accepts, so that a burst is not dropped. */
const TAP_OPTIONS =
  '{inputQueueSize=16384,outputQueueSize=1024,queueNotifyThreshold=64,bufferHint=65536,flushTimeout=1}';
/** TCP connection limit per client, equal to that of the embedded data plane. */
const MAX_TCP_CONNECTIONS_PER_CLIENT = 100;

/** Returns a dnsdist.conf for dnsdist 1.7.3 (Debian) or later. Rules are sent later through the console. */
export function dnsdistConfiguration({
  listen,
  servers,
  console,
  key,
  dnstap,
  transfersAllow,
  folder,
}: DnsdistConfiguration): string {
  const refusals = refusalsOf(transfersAllow);
  return [
    `setLocal(${luaText(textOf(listen))})`,
    `setUDPSocketBufferSizes(${SOCKET_BUFFER_BYTES},${SOCKET_BUFFER_BYTES})`,
    `setMaxTCPQueriesPerConnection(${MAX_TCP_QUERIES})`,
    `setMaxTCPConnectionsPerClient(${MAX_TCP_CONNECTIONS_PER_CLIENT})`,
    'setACL({"0.0.0.0/0","::/0"})',
    ...servers.map(newServer),
    `setKey(${luaText(key)})`,
    `controlSocket(${luaText(textOf(console))})`,
    `floodgateTap=newFrameStreamTcpLogger(${luaText(textOf(dnstap))},${TAP_OPTIONS})`,
    ...refusals.map(({ selector, action, name }) => `addAction(${selector},${action},{name="${name}"})`),
    'addAction(AllRule(),DnstapLogAction("floodgate",floodgateTap),{name="floodgate-tap"})',
    'addResponseAction(AllRule(),DnstapLogResponseAction("floodgate",floodgateTap))',
    ...(folder === undefined
      ? []
      : [
          `-- Loads the last rules if Floodgate is down. They are parsed as data; no file in the folder is executed.\n${RULES_LOADER}`,
          `floodgateStart(${luaText(folder)},{${refusals.map(refusalRule).join(',')}})`,
        ]),
    '',
  ].join('\n');
}

const newServer = (server: DnsServer): string =>
  `newServer({address=${luaText(textOf(server))}${server.proxyProtocol === 'udp and tcp' ? ',useProxyProtocol=true' : ''}})`;

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
