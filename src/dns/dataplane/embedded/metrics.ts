/** Metrics of the embedded data plane. Label values are fixed names and configured addresses, not client data. */
import { Counter, type Registry } from 'prom-client';
import { gaugesOf } from '../../../platform/metrics/index.ts';
import { outcomeOf, reasonOf, type Verdict } from '../../detector/index.ts';
import { readResultNames } from '../../protocol/index.ts';
import type { TcpFigures } from './tcp/tcpRelay.ts';
import type { ServerState } from './udp/udpRelay.ts';

interface EmbeddedFigures {
  readonly servers: readonly ServerState[];
  readonly threads: readonly unknown[];
  readonly tcp: TcpFigures;
  packets(): Readonly<Record<(typeof readResultNames)[number], number>>;
  limited(): number;
  servfails(): number;
  unlearned(): number;
  faults(): number;
}

export function registerEmbeddedMetrics(plane: EmbeddedFigures, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'floodgate_dns_packets_total',
    help: 'UDP packets by parse result: ok, or the fault.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, packets] of Object.entries(plane.packets())) this.inc({ result }, packets);
    },
  });
  new Counter({
    name: 'floodgate_dns_server_answers_total',
    help: 'Queries to DNS servers: answered, timed out, retried with another server; and packets that match no pending query.',
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
    help: 'UDP answers above the limit of equal answers to one network, sent with TC=1.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.limited());
    },
  });
  new Counter({
    name: 'floodgate_dns_servfail_answers_total',
    help: 'SERVFAIL answers of the guard itself, because no DNS server answered.',
    labelNames: ['protocol'],
    registers,
    collect() {
      this.reset();
      this.inc({ protocol: 'udp' }, plane.servfails());
      this.inc({ protocol: 'tcp' }, plane.tcp.servfails);
    },
  });
  new Counter({
    name: 'floodgate_dns_unlearned_answers_total',
    help: 'Answers not learned because the detector was too busy.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.unlearned());
    },
  });
  new Counter({
    name: 'floodgate_dns_packet_faults_total',
    help: 'Packets dropped because of a bug in Floodgate; the log contains the error.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.faults());
    },
  });
  registerTcpMetrics(plane, registry);
  const gauge = gaugesOf(registry);
  gauge('floodgate_dns_threads', 'UDP receiver threads.', () => Math.max(1, plane.threads.length));
  gauge('floodgate_dns_in_flight', 'Queries that await an answer.', () =>
    plane.servers.reduce((sum, { inFlight }) => sum + inFlight.waiting, 0),
  );
  gauge(
    'floodgate_dns_servers_up',
    'DNS servers that answer.',
    () => plane.servers.filter(({ up }) => up).length,
  );
  gauge(
    'floodgate_dns_tcp_servers_up',
    'DNS servers that answer over TCP. Probed only if there are several servers.',
    () => plane.tcp.serversUp,
  );
  gauge('floodgate_dns_tcp_connections', 'Open DNS over TCP connections.', () => plane.tcp.connections);
  gauge(
    'floodgate_dns_tcp_server_connections',
    'Open TCP connections to the DNS servers.',
    () => plane.tcp.serverConnections,
  );
}

function registerTcpMetrics(plane: EmbeddedFigures, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'floodgate_dns_tcp_messages_total',
    help: 'TCP messages by parse result: ok, or the fault.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [number, result] of readResultNames.entries())
        this.inc({ result }, plane.tcp.counts.messages[number] ?? 0);
    },
  });
  new Counter({
    name: 'floodgate_dns_tcp_queries_total',
    help: 'TCP queries by outcome and by the reason for which they had to pay a token.',
    labelNames: ['outcome', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const [number, queries] of plane.tcp.counts.queries.entries()) {
        const verdict = number as Verdict; // an index of the verdict table
        if (queries > 0) this.inc({ outcome: outcomeOf(verdict), reason: reasonOf(verdict) }, queries);
      }
    },
  });
  new Counter({
    name: 'floodgate_dns_transfers_total',
    help: 'Requested zone transfers (AXFR, IXFR) by protocol and outcome.',
    labelNames: ['protocol', 'outcome'],
    registers,
    collect() {
      this.reset();
      this.inc({ protocol: 'udp', outcome: 'refused' }, plane.packets().transfer);
      const { refused, allowed } = plane.tcp.counts.transfers;
      this.inc({ protocol: 'tcp', outcome: 'refused' }, refused);
      this.inc({ protocol: 'tcp', outcome: 'allowed' }, allowed);
    },
  });
  new Counter({
    name: 'floodgate_dns_tcp_accepted_total',
    help: 'Accepted DNS over TCP connections.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.tcp.counts.accepted);
    },
  });
  new Counter({
    name: 'floodgate_dns_tcp_closed_total',
    help: 'Closed DNS over TCP connections, by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, connections] of Object.entries(plane.tcp.counts.closed))
        this.inc({ reason }, connections);
    },
  });
}
