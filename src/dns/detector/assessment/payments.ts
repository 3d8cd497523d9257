/**
 * Returns how many queries of each zone get no token in a second, at each level. Queries pay from the same token
 * buckets as in queryPolicy.ts: of the account, of the zone, or of the zone whose policy sets the limit.
 */
import { type Rule, sensitivities } from '../../../rules/index.ts';
import type { RuleSensitivities, ZoneBuckets } from '../limits/bucketSizes.ts';
import { reserveOf } from '../limits/payment.ts';
import { profileLevel } from '../limits/sensitivity.ts';
import type { Threshold } from '../limits/thresholds.ts';
import type { Zone } from '../zones/zone.ts';
import type { AssessedZone, ZoneSecond } from './assessedZone.ts';
import { type Demand, FluidPool } from './fluidPool.ts';
import { addTo, LEVELS, type PerLevel, perLevel, profileOf, rateOf } from './levels.ts';

type SizeOf = (sensitivities: RuleSensitivities) => Threshold;

/** State of the guard in a second, and sizes of its token buckets under other sensitivities. */
export interface GuardSecond {
  readonly nowMs: number;
  readonly upstreamsHealthy: boolean;
  readonly rule: Rule | undefined;
  readonly attackedSize: SizeOf;
  readonly calmSize: SizeOf;
  readonly ceilingSize: SizeOf;
  readonly zoneSizes: (zone: Zone, sensitivities: RuleSensitivities) => ZoneBuckets;
  readonly zoneOf: (number: number) => Zone;
}

export class Payments {
  readonly #calm = new FluidPool();
  readonly #attacked = new FluidPool();
  /** Limits all zones together that are judged by query rate. */
  readonly #ceiling = new FluidPool();
  /** Buckets whose size a policy sets, by the number of the zone that has them. */
  readonly #payers = new Map<number, FluidPool>();

  /** `assessed`: buckets of the zone itself. Undefined if the zone is not assessed. */
  limited(
    counted: readonly (readonly [ZoneSecond, AssessedZone | undefined])[],
    guard: GuardSecond,
  ): PerLevel[] {
    const { nowMs, calmSize, attackedSize, zoneSizes } = guard;
    const pools = new PoolsInSecond(guard);
    const limitedOf = counted.map(() => perLevel());
    const underCeiling: { readonly demand: Demand; readonly limited: PerLevel }[] = [];
    for (const [index, [second, assessed]] of counted.entries()) {
      const { zone, unknown, learned, unknownType, aboveUsual } = second;
      if (unknown + learned + unknownType + aboveUsual === 0) continue;
      const limited = limitedOf[index] ?? perLevel();
      const byName = { queries: demandByName(second, nowMs), limited };
      const isLimitedByRate = zone.byRate && !zone.awaitsRate;
      const { payer } = zone.shared;
      if (payer !== undefined) {
        const size: SizeOf = (given) => withoutReserve(zoneSizes(guard.zoneOf(payer), given).unknown);
        pools.add(this.#payer(payer), byName, size);
        if (isLimitedByRate)
          pools.add(this.#payer(payer), { queries: perLevel(unknown + learned), limited }, size);
        continue;
      }
      if (zone.attacked(nowMs))
        pools.add(this.#attacked, byName, (given) => withoutReserve(attackedSize(given)));
      else pools.add(this.#calm, byName, (given) => withoutReserve(calmSize(given)));
      if (!isLimitedByRate || assessed === undefined) continue;
      const demand = { queries: perLevel(unknown + learned), limited: perLevel() };
      underCeiling.push({ demand, limited });
      const ofUnknown = { queries: perLevel(unknown), limited: demand.limited };
      const ofLearned = { queries: perLevel(learned), limited: demand.limited };
      pools.add(assessed.unknown, ofUnknown, (given) => zoneSizes(zone, given).unknown);
      pools.add(assessed.learned, ofLearned, (given) => withoutReserve(zoneSizes(zone, given).learned));
    }
    pools.take();
    for (const { demand } of underCeiling)
      pools.add(this.#ceiling, { ...demand, queries: passedOf(demand) }, guard.ceilingSize);
    pools.take();
    for (const { demand, limited } of underCeiling) addTo(limited, demand.limited);
    return limitedOf;
  }

  #payer(number: number): FluidPool {
    const pool = this.#payers.get(number) ?? new FluidPool();
    this.#payers.set(number, pool);
    return pool;
  }
}

interface PoolInSecond {
  readonly demands: Demand[];
  /** Sizes by rate sensitivity. */
  readonly sizes: ReadonlyMap<string, Threshold>;
}

/** The pools from which queries of this second pay. */
class PoolsInSecond {
  readonly #guard: GuardSecond;
  readonly #pools = new Map<FluidPool, PoolInSecond>();

  constructor(guard: GuardSecond) {
    this.#guard = guard;
  }

  add(pool: FluidPool, demand: Demand, sizeOf: SizeOf): void {
    const joined = this.#pools.get(pool) ?? { demands: [], sizes: this.#sizes(sizeOf) };
    joined.demands.push(demand);
    this.#pools.set(pool, joined);
  }

  take(): void {
    for (const [pool, { demands, sizes }] of this.#pools)
      pool.take(demands, (level) => sizes.get(rateOf(level)) ?? NO_SIZE, this.#guard.nowMs);
    this.#pools.clear();
  }

  #sizes(sizeOf: SizeOf): Map<string, Threshold> {
    const burst_sensitivity = this.#guard.rule?.burst_sensitivity ?? 'medium';
    return new Map(
      sensitivities.map((rate_sensitivity) => [
        rate_sensitivity,
        sizeOf({ rate_sensitivity, burst_sensitivity }),
      ]),
    );
  }
}

const NO_SIZE: Threshold = { ratePerSecond: 0, burst: 0 };

/** Returns the size of a bucket in which most queries must leave the reserve. */
const withoutReserve = ({ ratePerSecond, burst }: Threshold): Threshold => ({
  ratePerSecond,
  burst: burst - reserveOf(false, burst),
});

/** Returns the queries that pay because of their name, as `QueryPolicy.reasonToPay` decides. */
function demandByName({ zone, unknown, unknownType, aboveUsual }: ZoneSecond, nowMs: number): PerLevel {
  const isAttacked = zone.attacked(nowMs);
  const knowsNames = !zone.awaitsNames;
  const queries = perLevel();
  for (let level = 0; level < LEVELS; level++) {
    const profile = profileOf(level);
    const paysUnknown = knowsNames && !zone.byRate && (profile > profileLevel.low || isAttacked);
    queries[level] =
      (paysUnknown ? unknown : 0) +
      (knowsNames && profile >= profileLevel.high ? unknownType : 0) +
      (profile >= profileLevel.very_high ? aboveUsual : 0);
  }
  return queries;
}

const passedOf = ({ queries, limited }: Demand): PerLevel =>
  queries.map((count, level) => count - (limited[level] ?? 0));
