import fc from 'fast-check';
import { profileSensitivities, sensitivities } from './format/ruleSchema.ts';
import { type ZonePolicySettings, zoneJudgements, zoneModes } from './zonePolicy.ts';

const orNull = <T>(value: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), value);

/** Generates valid new zone policies, for property tests. */
export const newZonePolicyArbitrary: fc.Arbitrary<ZonePolicySettings> = fc.record({
  zone: fc.constantFrom('.', 'example.com', 'sub.example.com', '0/25.2.0.192.in-addr.arpa', 'a\\032b.test'),
  mode: fc.constantFrom(...zoneModes),
  judge_by: fc.constantFrom(...zoneJudgements),
  rate: orNull(fc.integer({ min: 1, max: 400_000 })),
  burst: orNull(fc.integer({ min: 1, max: 2_000_000 })),
  unknown_per_second: orNull(fc.integer({ min: 1, max: 400_000 })),
  profile_sensitivity: orNull(fc.constantFrom(...profileSensitivities)),
  rate_sensitivity: orNull(fc.constantFrom(...sensitivities)),
  burst_sensitivity: orNull(fc.constantFrom(...sensitivities)),
  only_when_upstream_unhealthy: fc.boolean(),
  comment: fc.constantFrom('', 'a blocklist', 'ü 🌊'),
});
