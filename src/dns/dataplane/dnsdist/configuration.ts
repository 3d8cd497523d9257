import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import { refusalsOf } from './refusals.ts';

export interface DnsdistConfiguration {
  readonly listen: ServerAddress;
  readonly servers: readonly ServerAddress[];
  readonly console: ServerAddress;
  /** 32 bytes in base64. */
  readonly key: string;
  readonly dnstap: ServerAddress;
  /** Who may transfer zones, over TCP. */
  readonly transfersAllow: readonly Network[];
}

/** Large enough that a burst waits instead of being lost: measured, the default loses legitimate queries under a flood. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
/** The workaround for CVE-2025-30193 (TCP connections without end). */
const MAX_TCP_QUERIES = 50;
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
}: DnsdistConfiguration): string {
  return [
    `setLocal(${quoted(textOf(listen))})`,
    `setUDPSocketBufferSizes(${SOCKET_BUFFER_BYTES},${SOCKET_BUFFER_BYTES})`,
    `setMaxTCPQueriesPerConnection(${MAX_TCP_QUERIES})`,
    `setMaxTCPConnectionsPerClient(${MAX_TCP_CONNECTIONS_PER_CLIENT})`,
    'setACL({"0.0.0.0/0","::/0"})',
    ...servers.map((server) => `newServer({address=${quoted(textOf(server))}})`),
    `setKey(${quoted(key)})`,
    `controlSocket(${quoted(textOf(console))})`,
    `floodgateTap=newFrameStreamTcpLogger(${quoted(textOf(dnstap))})`,
    ...refusalsOf(transfersAllow).map(
      ({ selector, action, name }) => `addAction(${selector},${action},{name="${name}"})`,
    ),
    'addAction(AllRule(),DnstapLogAction("floodgate",floodgateTap),{name="floodgate-tap"})',
    'addResponseAction(AllRule(),DnstapLogResponseAction("floodgate",floodgateTap))',
    '',
  ].join('\n');
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** As a Lua string that people can read, in which what stands in no address and no key is escaped: none of it becomes Lua. */
const quoted = (text: string): string =>
  `"${[...Buffer.from(text)].map((byte) => (PLAIN.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`)).join('')}"`;

const PLAIN = /^[A-Za-z0-9.:[\]+/=_-]$/;
