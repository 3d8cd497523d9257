/** Which name gives way to a new one: what has been known longer does last, and what a zone lists does only for another zone's fair share. */
import { DAY_MASK, dayAt, isSeeded, tenureAt, zoneAt } from './entry.ts';
import type { NameTable } from './nameTable.ts';
import type { ZoneDays } from './zoneDays.ts';

/** A name that was asked for on three days: time is what forged addresses cannot prove. */
export const PROVEN_TENURE = 2;
/** How many neighbours are looked at for the one that gives way to a learned name, and to one that a zone lists. */
const SAMPLE = 8;
const SEED_SAMPLE = 64;
/** Behind every learned name, however long that is known. */
const SEEDED_RANK = 8 * (DAY_MASK + 1);
/** The part of the profile that the learned names of one zone may take where other zones have names, too. */
const LEARNED_SHARE = 0.5;

export interface ProfileParts {
  readonly table: NameTable;
  readonly days: ZoneDays;
  /** Names by the number of their zone. */
  readonly counts: Uint32Array;
}

/** For whom room is wanted. */
export interface Newcomer {
  readonly high: number;
  readonly zone: number;
  /** Of a name that a zone lists; undefined for a learned one. */
  readonly seed: { readonly fairShare: number; readonly generation: number } | undefined;
}

/** Whether learned names of this zone have all the room that is theirs. */
export const isOverShare = ({ table, counts }: ProfileParts, zone: number): boolean => {
  const names = counts[zone] ?? 0;
  return names >= table.capacity * LEARNED_SHARE && names < table.size;
};

/** The slot of the name that gives way; -1 where none has to. */
export function slotToGiveWay(parts: ProfileParts, newcomer: Newcomer): number {
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
  // What the zone listed before it may list no more; what it still lists comes again.
  if (other === zone) return tenure !== seed.generation;
  return isUnderShare && (counts[other] ?? 0) > seed.fairShare;
}

/** Names of the lowest rank give way first: known on the fewest days, then silent for the longest time. */
function rankOf({ table, days }: ProfileParts, slot: number): number {
  if (isSeeded(table, slot)) return SEEDED_RANK;
  const silentDays = (days.of(zoneAt(table, slot)) - dayAt(table, slot)) & DAY_MASK;
  return tenureAt(table, slot) * (DAY_MASK + 1) - silentDays;
}
