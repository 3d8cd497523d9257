import { isDeepStrictEqual } from 'node:util';
import type { DamagedPart, IndexRepair } from '../../../../traces/index.ts';
import { DamagedIndexError } from '../damagedIndexError.ts';
import { SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { NO_RUN, SegmentStates, segmentsPerRun } from '../directory/segmentStates.ts';
import { Writes } from '../write/writes.ts';
import { putNextVersion, type Repaired, repairSegment } from './repairSegment.ts';
import { repairSingles } from './repairSingles.ts';

interface RepairDependencies extends Repaired {
  readonly commit: (writes: Writes) => Promise<void>;
  /** Called before blocks of a segment are changed. */
  readonly changing: (segment: number) => void;
}

/**
 * Repairs all parts whose damage is noted, each in one transaction. No other change of the index may run. A part that
 * cannot be repaired does not prevent the repair of the others.
 */
export async function repairIndex(dependencies: RepairDependencies): Promise<IndexRepair> {
  const { environment, commit, changing } = dependencies;
  const { damage } = environment;
  const total = {
    unavailable: [] as number[],
    removed: [] as number[],
    records: [] as string[],
    failures: [] as string[],
  };
  const planned = new Set<string>();
  // The other repairs read single records.
  if (damage.size > 0) environment.noteDamage({ kind: 'singles' });
  const byKind = ([, a]: [string, DamagedPart], [, b]: [string, DamagedPart]): number =>
    Number(b.kind === 'singles') - Number(a.kind === 'singles');
  // A repair may find damage in other parts, which the next round repairs.
  for (let round = [...damage].sort(byKind); round.length > 0; round = [...damage].sort(byKind))
    for (const [name, part] of round) {
      damage.delete(name);
      try {
        // Until the commit, reads have found the damage again.
        if (planned.has(name)) continue;
        planned.add(name);
        if (part.kind === 'segment') changing(part.segment);
        const { writes, unavailable = [], removed = [], records = [] } = await planOf(part, dependencies);
        await commit(writes).catch((error: unknown) => {
          // The first read of the repaired index has found damage in another part.
          if (!(error instanceof DamagedIndexError) || isDeepStrictEqual(error.part, part)) throw error;
        });
        total.unavailable.push(...unavailable);
        total.removed.push(...removed);
        total.records.push(...records);
      } catch (error) {
        if (!(error instanceof DamagedIndexError)) {
          damage.set(name, part);
          throw error;
        }
        total.failures.push(error.message);
      }
    }
  return total;
}

interface RepairPlan extends Partial<IndexRepair> {
  readonly writes: Writes;
}

async function planOf(part: DamagedPart, dependencies: RepairDependencies): Promise<RepairPlan> {
  if (part.kind === 'singles') return repairSingles(dependencies.environment);
  if (part.kind === 'segment') return repairSegment(part, dependencies);
  return removeRun(part, dependencies);
}

/** Returns the writes after which no segment uses a run. The directory is then built again for these segments. */
function removeRun({ level, run }: { level: number; run: number }, { environment }: Repaired): RepairPlan {
  const { meta } = environment;
  const states = new SegmentStates(environment.read(meta, SEGMENTS_KEY));
  const segments = segmentsPerRun(level);
  for (let segment = run * segments; segment < (run + 1) * segments; segment++)
    if (states.levelOf(segment) === level) states.assignRun(segment, NO_RUN);
  const writes = new Writes();
  writes.put(meta, SEGMENTS_KEY, states.encode());
  putNextVersion(environment, writes);
  return { writes, records: [`run ${run} of directory-${level}`] };
}
