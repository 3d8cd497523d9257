/** The guard in `/metrics`: labels are ids of rules and names of verdicts, never a client's text. */
import { Counter, type Registry } from 'prom-client';
import { gaugesOf } from '../../platform/metrics/index.ts';
import { type AttackDetector, outcomeOf, reasonOf, type Verdict } from '../detector/index.ts';
import type { Guard } from './guard.ts';

/** Registers what every guard tells, and what its data plane does; it is read when it is asked for. */
export function registerGuardMetrics({ detector, stats, dataPlane }: Guard, registry: Registry): void {
  dataPlane.registerMetrics(registry);
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
  const gauge = gaugesOf(registry);
  gauge('floodgate_dns_profile_names', 'Known names.', () => detector.profile.size);
  gauge('floodgate_dns_profile_bytes', 'Memory of the profile.', () => detector.profile.bytes);
  gauge('floodgate_dns_known_networks', 'Networks of clients that are known.', () =>
    detector.clients.size(Date.now()),
  );
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

function attackedZones(detector: AttackDetector): number {
  const nowMs = Date.now();
  return detector.zones.all().filter((zone) => zone.noticed(nowMs)).length;
}
