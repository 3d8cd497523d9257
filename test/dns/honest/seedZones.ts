import { type AttackDetector, ZoneSeed } from '../../../src/dns/detector/index.ts';
import { nameToWire } from '../../../src/dns/protocol/index.ts';
import { DELEGATION, type World } from './flows.ts';

/** Adds the names of the world's seeded zones to the profile. */
export function seedZones(detector: AttackDetector, seeds: World['seeds']): void {
  for (const [zone, owners] of Object.entries(seeds)) {
    const seed = new ZoneSeed({ zone }, { detector });
    for (const owner of owners)
      if (owner.startsWith(DELEGATION)) seed.add(nameToWire(owner.slice(DELEGATION.length)), 'NS');
      else seed.add(nameToWire(owner), 'A');
    seed.finish();
  }
}
