import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import type { DnsServer } from '../index.ts';
import { luaText } from './luaText.ts';
import { refusalRule, refusalsOf } from './refusals.ts';
import { RULES_LOADER } from './rulesLoader.ts';

export interface DnsdistConfiguration {
  readonly listen: ServerAddress;
  readonly servers: readonly DnsServer[];
  readonly console: ServerAddress;
  /** 32 bytes in base64. */
  readonly key: string;
  readonly dnstap: ServerAddress;
  /** Who may transfer zones, over TCP. */
  readonly transfersAllow: readonly Network[];
  /** Where Floodgate puts names and rules: a dnsdist that is started without Floodgate goes by them. */
  readonly folder?: string | undefined;
}

/** Large enough that a burst waits instead of being lost: measured, the default loses legitimate queries under a flood. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
/** The workaround for CVE-2025-30193 (TCP connections without end). */
const MAX_TCP_QUERIES = 50;
/** As large as dnsdist takes them: a burst waits instead of being left out of what the detector sees. */
const TAP_OPTIONS =
  '{inputQueueSize=16384,outputQueueSize=1024,queueNotifyThreshold=64,bufferHint=65536,flushTimeout=1}';
/** As many as the embedded guard gives one address. */
const MAX_TCP_CONNECTIONS_PER_CLIENT = 100;

/** A dnsdist.conf (Debian's 1.7.3 and later) that Floodgate can drive: everything else comes over the console. */
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
          `-- What Floodgate wanted last, while it is away: read as data, nothing in the folder is run.\n${RULES_LOADER}`,
          `floodgateStart(${luaText(folder)},{${refusals.map(refusalRule).join(',')}})`,
        ]),
    '',
  ].join('\n');
}

const newServer = (server: DnsServer): string =>
  `newServer({address=${luaText(textOf(server))}${server.proxyProtocol === 'udp and tcp' ? ',useProxyProtocol=true' : ''}})`;

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
