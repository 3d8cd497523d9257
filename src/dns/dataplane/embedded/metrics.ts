/** The embedded data plane in `/metrics`: labels are names of results and addresses from the configuration, never a client's text. */
import { Counter, type Registry } from 'prom-client';
import { gaugesOf } from '../../../platform/metrics/index.ts';
import { outcomeOf, reasonOf, type Verdict } from '../../detector/index.ts';
import { readResultNames } from '../../protocol/index.ts';
import type { LimitedAnswers } from './responseRateLimit.ts';
import type { TcpRelay } from './tcpRelay.ts';
import type { ServerState } from './udpRelay.ts';

/** What is told of an embedded data plane. */
interface EmbeddedFigures {
  readonly servers: readonly ServerState[];
  readonly threads: readonly unknown[];
  readonly tcpServers: number;
  readonly tcp: Pick<TcpRelay, 'connections' | 'serverConnections' | 'counts'>;
  packets(): Readonly<Record<(typeof readResultNames)[number], number>>;
  limited(): LimitedAnswers;
  unlearned(): number;
  faults(): number;
}

/** Registers what the data plane counts; it is read when it is asked for. */
export function registerEmbeddedMetrics(plane: EmbeddedFigures, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'floodgate_dns_packets_total',
    help: 'Packets over UDP by what came of reading them: ok, or the fault.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, packets] of Object.entries(plane.packets())) this.inc({ result }, packets);
    },
  });
  new Counter({
    name: 'floodgate_dns_server_answers_total',
    help: 'Questions to the servers behind: answered, given up, asked of another server, and packets that answered nothing asked.',
    labelNames: ['server', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { address, answered, timedOut, mismatched, retried } of plane.servers) {
        const server = `${address.host}:${address.port}`;
        this.inc({ server, result: 'answered' }, answered);
        this.inc({ server, result: 'timed_out' }, timedOut);
        this.inc({ server, result: 'mismatched' }, mismatched);
        this.inc({ server, result: 'retried' }, retried);
      }
    },
  });
  new Counter({
    name: 'floodgate_dns_limited_answers_total',
    help: 'Answers over UDP above the limit of equal answers to one network, by what became of them: truncated or dropped.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, answers] of Object.entries(plane.limited())) this.inc({ outcome }, answers);
    },
  });
  new Counter({
    name: 'floodgate_dns_unlearned_answers_total',
    help: 'Answers that taught nothing, because the threads that received them were too far ahead of the detector.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.unlearned());
    },
  });
  new Counter({
    name: 'floodgate_dns_packet_faults_total',
    help: 'Packets that were dropped because handling them failed, by a fault of Floodgate: the log says what.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.faults());
    },
  });
  registerTcpMetrics(plane, registry);
  const gauge = gaugesOf(registry);
  gauge('floodgate_dns_threads', 'Threads that receive over UDP.', () => Math.max(1, plane.threads.length));
  gauge('floodgate_dns_in_flight', 'Questions that wait for an answer.', () =>
    plane.servers.reduce((sum, { inFlight }) => sum + inFlight.waiting, 0),
  );
  gauge(
    'floodgate_dns_servers_up',
    'Servers behind that answer.',
    () => plane.servers.filter(({ up }) => up).length,
  );
  gauge(
    'floodgate_dns_tcp_servers_up',
    'Servers behind that answer over TCP; found out where there are several.',
    () => plane.tcpServers,
  );
  gauge('floodgate_dns_tcp_connections', 'Open connections of DNS over TCP.', () => plane.tcp.connections);
  gauge(
    'floodgate_dns_tcp_server_connections',
    'Open connections of DNS over TCP to the servers behind.',
    () => plane.tcp.serverConnections,
  );
}

function registerTcpMetrics(plane: EmbeddedFigures, registry: Registry): void {
  const registers = [registry];
  const { counts } = plane.tcp;
  new Counter({
    name: 'floodgate_dns_tcp_messages_total',
    help: 'Messages over TCP by what came of reading them: ok, or the fault.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [number, result] of readResultNames.entries())
        this.inc({ result }, counts.messages[number] ?? 0);
    },
  });
  new Counter({
    name: 'floodgate_dns_tcp_queries_total',
    help: 'Queries over TCP by what came of them and why they had to pay.',
    labelNames: ['outcome', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const [number, queries] of counts.queries.entries()) {
        const verdict = number as Verdict; // an index of the table of verdicts
        if (queries > 0) this.inc({ outcome: outcomeOf(verdict), reason: reasonOf(verdict) }, queries);
      }
    },
  });
  new Counter({
    name: 'floodgate_dns_transfers_total',
    help: 'Zone transfers that clients asked for (AXFR, IXFR), over UDP and TCP, by whether they were allowed.',
    labelNames: ['protocol', 'outcome'],
    registers,
    collect() {
      this.reset();
      this.inc({ protocol: 'udp', outcome: 'refused' }, plane.packets().transfer);
      this.inc({ protocol: 'tcp', outcome: 'refused' }, counts.transfers.refused);
      this.inc({ protocol: 'tcp', outcome: 'allowed' }, counts.transfers.allowed);
    },
  });
  new Counter({
    name: 'floodgate_dns_tcp_accepted_total',
    help: 'Connections of DNS over TCP that found a place.',
    registers,
    collect() {
      this.reset();
      this.inc(counts.accepted);
    },
  });
  new Counter({
    name: 'floodgate_dns_tcp_closed_total',
    help: 'Connections of DNS over TCP that were closed, by why.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, connections] of Object.entries(counts.closed)) this.inc({ reason }, connections);
    },
  });
}
