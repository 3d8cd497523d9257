import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import type { DnsServer } from '../index.ts';
import { CACHE_IDENTITY, TAP_IDENTITY } from './dnstap.ts';
import { luaText } from './luaText.ts';
import { type Refusal, refusalRule, refusalsOf } from './refusals.ts';
import { NO_SERVER, RULES_LOADER, SERVFAIL_BUCKET } from './rulesLoader.ts';

export interface DnsdistConfiguration {
  readonly listen: readonly ServerAddress[];
  readonly servers: readonly DnsServer[];
  readonly console: ServerAddress;
  /** Key of the dnsdist console: 32 bytes in base64. */
  readonly key: string;
  readonly dnstap: ServerAddress;
  readonly transfersAllow: readonly Network[];
  /** Folder with known names and rules. dnsdist loads them when it starts, so that it has rules without Floodgate. */
  readonly folder?: string | undefined;
}

/** Size of dnsdist's socket buffers. With the default size, dnsdist lost legitimate queries in a measured flood. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
/** Maximum number of queries per TCP connection. Without a limit, old versions of dnsdist have CVE-2025-30193. */
const MAX_TCP_QUERIES = 50;
/** Maximum size of a UDP answer that dnsdist's own answers offer, as in the embedded data plane. */
const UDP_BYTES = 1232;
/** Options of dnsdist's dnstap logger: the largest queues that it accepts, so that no frames of a burst are lost. */
const TAP_OPTIONS =
  '{inputQueueSize=16384,outputQueueSize=1024,queueNotifyThreshold=64,bufferHint=65536,flushTimeout=1}';
/** Maximum number of TCP connections per client, as in the embedded data plane. */
const MAX_TCP_CONNECTIONS_PER_CLIENT = 100;

/** Returns a dnsdist.conf for dnsdist 1.7.3 or later. Floodgate later sends the rules through the console. */
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
    ...listen.map(
      (address, index) => `${index === 0 ? 'setLocal' : 'addLocal'}(${luaText(textOf(address))})`,
    ),
    `setUDPSocketBufferSizes(${SOCKET_BUFFER_BYTES},${SOCKET_BUFFER_BYTES})`,
    `setMaxTCPQueriesPerConnection(${MAX_TCP_QUERIES})`,
    `setMaxTCPConnectionsPerClient(${MAX_TCP_CONNECTIONS_PER_CLIENT})`,
    'setACL({"0.0.0.0/0","::/0"})',
    `setPayloadSizeOnSelfGeneratedAnswers(${UDP_BYTES})`,
    'setServFailWhenNoServer(true)',
    SERVFAIL_BUCKET,
    ...servers.map(newServer),
    `setKey(${luaText(key)})`,
    `controlSocket(${luaText(textOf(console))})`,
    `floodgateTap=newFrameStreamTcpLogger(${luaText(textOf(dnstap))},${TAP_OPTIONS})`,
    ...refusals.map(addAction),
    `addAction(AllRule(),DnstapLogAction("${TAP_IDENTITY}",floodgateTap),{name="floodgate-tap"})`,
    addAction(NO_SERVER),
    `addResponseAction(AllRule(),DnstapLogResponseAction("${TAP_IDENTITY}",floodgateTap))`,
    `addCacheHitResponseAction(AllRule(),DnstapLogResponseAction("${CACHE_IDENTITY}",floodgateTap))`,
    ...(folder === undefined
      ? []
      : [
          `-- Loads the last rules if Floodgate is down. They are parsed as data; no file in the folder is executed.\n${RULES_LOADER}`,
          `floodgateStart(${luaText(folder)},{${refusals.map(refusalRule).join(',')}})`,
        ]),
    '',
  ].join('\n');
}

const addAction = ({ selector, action, name }: Refusal): string =>
  `addAction(${selector},${action},{name="${name}"})`;

const newServer = (server: DnsServer): string =>
  `newServer({address=${luaText(textOf(server))}${server.proxyProtocol === 'udp and tcp' ? ',useProxyProtocol=true' : ''}})`;

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
