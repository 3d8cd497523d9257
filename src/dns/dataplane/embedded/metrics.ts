/** The guard in `/metrics`: labels are ids of rules, names of verdicts and addresses from the configuration, never a client's text. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type AttackDetector, outcomeOf, reasonOf, type Verdict } from '../../detector/index.ts';
import { readResultNames } from '../../protocol/index.ts';
import type { Guard } from './guard.ts';

/** Registers what every guard tells, whichever data plane it has; it is read when it is asked for. */
export function registerGuardMetrics(
  { detector, stats }: Pick<Guard, 'detector' | 'stats'>,
  registry: Registry,
): void {
  new Counter({
    name: 'floodgate_dns_queries_total',
    help: 'Queries over UDP by the rule in force (empty for none), what came of them and why they had to pay.',
    labelNames: ['rule', 'outcome', 'reason'],
    registers: [registry],
    collect() {
      this.reset();
      stats.note(Date.now());
      for (const [rule, counts] of stats.totals)
        for (const [number, queries] of counts.entries()) {
          const verdict = number as Verdict; // an index of the table of verdicts
          if (queries > 0)
            this.inc({ rule, outcome: outcomeOf(verdict), reason: reasonOf(verdict) }, queries);
        }
    },
  });
  const gauge = gauges(registry);
  gauge('floodgate_dns_profile_names', 'Known names.', () => detector.profile.size);
  gauge('floodgate_dns_profile_bytes', 'Memory of the profile.', () => detector.profile.bytes);
  gauge('floodgate_dns_bucket_tokens', 'Tokens in the bucket.', () => detector.tokens(Date.now()));
  gauge(
    'floodgate_dns_bucket_rate',
    'Tokens a second that come into the bucket.',
    () => detector.bucketSize().ratePerSecond,
  );
  gauge('floodgate_dns_bucket_burst', 'Tokens that the bucket holds.', () => detector.bucketSize().burst);
  gauge('floodgate_dns_attack', '1 while a zone is under attack.', () => (detector.attack ? 1 : 0));
  gauge('floodgate_dns_attacked_zones', 'Zones under attack.', () => attackedZones(detector));
  gauge('floodgate_dns_ready', '1 when the guard knows enough to drop.', () => (detector.ready ? 1 : 0));
}

/** Registers the metrics of an embedded guard. */
export function registerDnsMetrics(guard: Guard, registry: Registry): void {
  registerGuardMetrics(guard, registry);
  const registers = [registry];
  new Counter({
    name: 'floodgate_dns_packets_total',
    help: 'Packets over UDP by what came of reading them: ok, or the fault.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, packets] of Object.entries(guard.packets())) this.inc({ result }, packets);
    },
  });
  new Counter({
    name: 'floodgate_dns_server_answers_total',
    help: 'Questions to the servers behind: answered, given up, and packets that answered nothing asked.',
    labelNames: ['server', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { address, answered, timedOut, mismatched } of guard.servers) {
        const server = `${address.host}:${address.port}`;
        this.inc({ server, result: 'answered' }, answered);
        this.inc({ server, result: 'timed_out' }, timedOut);
        this.inc({ server, result: 'mismatched' }, mismatched);
      }
    },
  });
  new Counter({
    name: 'floodgate_dns_unlearned_answers_total',
    help: 'Answers that taught nothing, because the threads that received them were too far ahead of the detector.',
    registers,
    collect() {
      this.reset();
      this.inc(guard.unlearned());
    },
  });
  new Counter({
    name: 'floodgate_dns_packet_faults_total',
    help: 'Packets that were dropped because handling them failed, by a fault of Floodgate: the log says what.',
    registers,
    collect() {
      this.reset();
      this.inc(guard.faults());
    },
  });
  registerTcpMetrics(guard, registry);
  const gauge = gauges(registry);
  gauge('floodgate_dns_threads', 'Threads that receive over UDP.', () => Math.max(1, guard.threads.length));
  gauge('floodgate_dns_in_flight', 'Questions that wait for an answer.', () =>
    guard.servers.reduce((sum, { inFlight }) => sum + inFlight.waiting, 0),
  );
  gauge(
    'floodgate_dns_servers_up',
    'Servers behind that answer.',
    () => guard.servers.filter(({ up }) => up).length,
  );
  gauge('floodgate_dns_tcp_connections', 'Open connections of DNS over TCP.', () => guard.tcp.connections);
  gauge(
    'floodgate_dns_tcp_server_connections',
    'Open connections of DNS over TCP to the servers behind.',
    () => guard.tcp.serverConnections,
  );
}

function registerTcpMetrics(guard: Guard, registry: Registry): void {
  const registers = [registry];
  const { counts } = guard.tcp;
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
    name: 'floodgate_dns_transfers_total',
    help: 'Zone transfers that clients asked for (AXFR, IXFR), over UDP and TCP, by whether they were allowed.',
    labelNames: ['protocol', 'outcome'],
    registers,
    collect() {
      this.reset();
      this.inc({ protocol: 'udp', outcome: 'refused' }, guard.packets().transfer);
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

type Gauged = (name: string, help: string, read: () => number) => void;

const gauges =
  (registry: Registry): Gauged =>
  (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };

function attackedZones(detector: AttackDetector): number {
  const nowMs = Date.now();
  return detector.zones.all().filter((zone) => zone.attacked(nowMs)).length;
}
