/** Metrics of the guard. Label values are rule ids and names of verdicts, not data from clients. */
import { Counter, type Registry } from 'prom-client';
import { gaugesOf } from '../../platform/metrics/index.ts';
import { type AttackDetector, outcomeOf, reasonOf, type Verdict } from '../detector/index.ts';
import type { Guard } from './guard.ts';

/** Registers the metrics of a guard and of its data plane. */
export function registerGuardMetrics({ detector, stats, dataPlane }: Guard, registry: Registry): void {
  dataPlane.registerMetrics(registry);
  new Counter({
    name: 'floodgate_dns_queries_total',
    help: 'Queries over UDP by rule in force (empty for none), outcome and reason for payment.',
    labelNames: ['rule', 'outcome', 'reason'],
    registers: [registry],
    collect() {
      this.reset();
      stats.collect(Date.now());
      for (const [rule, counts] of stats.totals)
        for (const [number, queries] of counts.entries()) {
          const verdict = number as Verdict; // index in the table of verdicts
          if (queries > 0)
            this.inc({ rule, outcome: outcomeOf(verdict), reason: reasonOf(verdict) }, queries);
        }
    },
  });
  const gauge = gaugesOf(registry);
  gauge('floodgate_dns_profile_names', 'Names in the profile.', () => detector.profile.size);
  gauge('floodgate_dns_profile_bytes', 'Memory of the profile in bytes.', () => detector.profile.bytes);
  gauge('floodgate_dns_known_networks', 'Known client networks.', () => detector.clients.size(Date.now()));
  gauge('floodgate_dns_bucket_tokens', 'Tokens in the bucket.', () => detector.tokens(Date.now()));
  gauge(
    'floodgate_dns_bucket_rate',
    'Refill rate of the bucket in tokens per second.',
    () => detector.bucketSize().ratePerSecond,
  );
  gauge('floodgate_dns_bucket_burst', 'Capacity of the bucket in tokens.', () => detector.bucketSize().burst);
  gauge('floodgate_dns_attack', '1 while a zone is under attack.', () => (detector.attack ? 1 : 0));
  gauge('floodgate_dns_attacked_zones', 'Zones under attack.', () => attackedZones(detector));
  gauge(
    'floodgate_dns_upstreams_healthy',
    '1 if the DNS servers are healthy, 0 if overloaded or down.',
    () => (detector.upstreamsHealthy ? 1 : 0),
  );
  gauge('floodgate_dns_ready', '1 if the guard has learned enough to drop queries.', () =>
    detector.ready ? 1 : 0,
  );
}

function attackedZones(detector: AttackDetector): number {
  const nowMs = Date.now();
  return detector.zones.all().filter((zone) => zone.isReported(nowMs)).length;
}
