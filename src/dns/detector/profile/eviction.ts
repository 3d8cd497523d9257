/**
 * Selects the name that a new name evicts from a full profile. Names known for longer are evicted later. Only a new
 * seeded name evicts a seeded name: a name of another zone, if that zone is above its fair share and the new name's
 * zone is below it; or a name of the same zone from an earlier generation (entry.ts).
 */
import { DAY_MASK, dayAt, isSeeded, tenureAt, zoneAt } from './entry.ts';
import type { NameTable } from './nameTable.ts';
import type { ZoneDays } from './zoneDays.ts';

/** Tenure of a name after answers on three days. Queries from forged addresses cannot reach it in less time. */
export const PROVEN_TENURE = 2;
/** Number of slots that are examined to find a name to evict, if the new name is a learned name. */
const SAMPLE = 8;
/** Number of slots that are examined to find a name to evict, if the new name is a seeded name. */
const SEED_SAMPLE = 64;
/** Eviction rank of seeded names. It is higher than the rank of every learned name. */
const SEEDED_RANK = 8 * (DAY_MASK + 1);
/**
 * If the names of a zone fill this share of the profile, a new learned name of the zone may evict only names of the
 * same zone. Does not apply while no other zone has names.
 */
const LEARNED_SHARE = 0.5;

export interface ProfileParts {
  readonly table: NameTable;
  readonly days: ZoneDays;
  /** Number of names in the profile, indexed by zone number. */
  readonly counts: Uint32Array;
}

export interface Newcomer {
  readonly high: number;
  readonly zone: number;
  /** For a seeded name: the number of names that its zone may keep, and the generation of the seed. */
  readonly seed: { readonly fairShare: number; readonly generation: number } | undefined;
}

/** Whether the names of a zone fill LEARNED_SHARE of the profile, and other zones have names, too. */
export const isOverShare = ({ table, counts }: ProfileParts, zone: number): boolean => {
  const names = counts[zone] ?? 0;
  return names >= table.capacity * LEARNED_SHARE && names < table.size;
};

/** Returns the slot of the name to evict, or -1 if no name may be evicted. */
export function findEvictionSlot(parts: ProfileParts, newcomer: Newcomer): number {
  const { table } = parts;
  const sample = newcomer.seed === undefined ? SAMPLE : Math.min(SEED_SAMPLE, table.slots);
  let slot = Math.floor((newcomer.high / 2 ** 32) * table.slots);
  let found = -1;
  let foundRank = Number.POSITIVE_INFINITY;
  for (let looked = 0; looked < sample; looked++, slot = slot + 1 === table.slots ? 0 : slot + 1) {
    if (!table.isUsed(slot) || !mayDisplace(parts, newcomer, slot)) continue;
    const rank = rankOf(parts, slot);
    if (rank >= foundRank) continue;
    found = slot;
    foundRank = rank;
  }
  return found;
}

function mayDisplace(parts: ProfileParts, { zone, seed }: Newcomer, slot: number): boolean {
  const { table, counts } = parts;
  const other = zoneAt(table, slot);
  const tenure = tenureAt(table, slot);
  if (seed === undefined) {
    if (isSeeded(table, slot) || tenure >= PROVEN_TENURE) return false;
    return other === zone || !isOverShare(parts, zone);
  }
  const isUnderShare = (counts[zone] ?? 0) < seed.fairShare;
  if (!isSeeded(table, slot)) return isUnderShare || tenure < PROVEN_TENURE;
  // A name of an earlier generation may no longer exist. If it does exist, the seeding in progress adds it again.
  if (other === zone) return tenure !== seed.generation;
  return isUnderShare && (counts[other] ?? 0) > seed.fairShare;
}

/**
 * Returns the eviction rank of a name. The name with the lowest rank is evicted first: the one with answers on the
 * fewest days, and among such names the one with the oldest answer.
 */
function rankOf({ table, days }: ProfileParts, slot: number): number {
  if (isSeeded(table, slot)) return SEEDED_RANK;
  const silentDays = (days.of(zoneAt(table, slot)) - dayAt(table, slot)) & DAY_MASK;
  return tenureAt(table, slot) * (DAY_MASK + 1) - silentDays;
}
