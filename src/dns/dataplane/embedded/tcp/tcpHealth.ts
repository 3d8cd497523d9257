/** Health of the DNS servers over TCP, from probes. A single server has no alternative, so it is not probed. */

import { connect, type Socket } from 'node:net';
import { inBackground } from '../../../../platform/background/index.ts';
import { resetConnection } from '../../../../platform/sockets/index.ts';
import type { DnsServer } from '../../index.ts';
import { afterReads } from '../afterReads.ts';
import type { Probe } from '../servers/probe.ts';
import { proxyHeader } from '../servers/proxyHeader.ts';
import { HealthStatus, type ProbeResult, ServerHealth } from '../servers/serverHealth.ts';

const PROBE_MS = 750;
const LENGTH_BYTES = 2;
const HEADER_BYTES = 12;
const MAX_ANSWER_BYTES = 65_537;

export class TcpHealth {
  readonly #servers: readonly { readonly address: DnsServer; readonly health: ServerHealth }[];
  readonly #probe: Probe;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #open = new Set<Socket>();

  constructor(servers: readonly DnsServer[], probe: Probe) {
    this.#servers = servers.map((address) => ({ address, health: new ServerHealth() }));
    this.#probe = probe;
    if (servers.length < 2) return;
    this.#timer = setInterval(() => this.#probeAll(), PROBE_MS);
    this.#timer.unref();
  }

  /** Moves the servers that are healthy over TCP to the front. Keeps the order of the servers otherwise. */
  inOrder(servers: readonly DnsServer[]): DnsServer[] {
    const rank = (server: DnsServer): number => (this.answers(server) ? 0 : 1);
    return [...servers].sort((one, other) => rank(one) - rank(other));
  }

  answers({ host, port }: DnsServer): boolean {
    const server = this.#servers.find(({ address }) => address.host === host && address.port === port);
    return server === undefined || server.health.status === HealthStatus.inUse;
  }

  get answering(): number {
    return this.#servers.filter(({ health }) => health.status === HealthStatus.inUse).length;
  }

  /** Whether any server answers over TCP. Undefined for a single server, which is not probed. */
  get isAnyAnswering(): boolean | undefined {
    return this.#servers.length < 2 ? undefined : this.answering > 0;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#open) socket.destroy();
  }

  #probeAll(): void {
    for (const { address, health } of this.#servers)
      inBackground('probe over TCP', async () => health.noteProbe(await this.#ask(address)));
  }

  #ask(server: DnsServer): Promise<ProbeResult> {
    return new Promise((resolve) => {
      const socket = connect({ host: server.host, port: server.port, noDelay: true });
      this.#open.add(socket);
      const id = Math.floor(Math.random() * 0x10000);
      let pending = Buffer.alloc(0);
      const end = (result: ProbeResult): void => {
        clearTimeout(timer);
        this.#open.delete(socket);
        resetConnection(socket);
        resolve(result);
      };
      const timer = setTimeout(() => afterReads(() => end('silent')), PROBE_MS * 0.8);
      socket.on('error', () => end('silent')).on('end', () => end('silent'));
      socket.on('connect', () => socket.write(this.#framed(socket, server, id)));
      socket.on('data', (chunk: Buffer) => {
        pending = Buffer.concat([pending, chunk]);
        if (pending.length < LENGTH_BYTES + HEADER_BYTES) return;
        const answer = pending.subarray(LENGTH_BYTES);
        const isWhole = answer.length >= pending.readUInt16BE(0);
        if (answer.readUInt16BE(0) !== id || pending.length > MAX_ANSWER_BYTES) end('silent');
        else if (isWhole) end(this.#probe.answers(answer) ? this.#probe.judge(answer) : 'silent');
      });
    });
  }

  #framed(socket: Socket, server: DnsServer, id: number): Buffer {
    const { packet } = this.#probe;
    const framed = Buffer.alloc(LENGTH_BYTES + packet.length);
    framed.writeUInt16BE(packet.length, 0);
    packet.copy(framed, LENGTH_BYTES);
    framed.writeUInt16BE(id, LENGTH_BYTES);
    if (server.proxyProtocol !== 'udp and tcp') return framed;
    const { localAddress: host = '', localPort: port = 0 } = socket;
    return Buffer.concat([proxyHeader({ host, port }, server, 'tcp'), framed]);
  }
}
