import { attributesOf, type StoredBlock, TRACES_PER_CHUNK, WorkBudget } from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { uint32Key } from '../keys.ts';
import { LmdbHistoryReader } from './historyReader.ts';
import { NO_RUN } from './segmentStates.ts';

/** Positions of the traces of a segment. A key is the side (`from`, `to` or `transaction`), a space and the term. */
type Positions = ReadonlyMap<string, readonly number[]>;

interface Verified {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
}

/** Checks that the stored attributes of a block match its traces. */
export function verifyAttributes(
  { environment: { attributes }, state }: Verified,
  { number, traceCount }: StoredBlock,
  problems: string[],
): void {
  const record = state.read(attributes, uint32Key(number));
  if (record === undefined) {
    problems.push(`the attributes of block ${number} are missing`);
    return;
  }
  const kept = Buffer.from(record);
  function* chunks(): Generator<Uint8Array> {
    for (let index = 0; index < traceCount; index += TRACES_PER_CHUNK) yield state.chunk(number, index);
  }
  const words = attributesOf(chunks(), traceCount);
  if (!kept.equals(Buffer.from(words.buffer)))
    problems.push(`the attributes of block ${number} do not match its traces`);
}

/** Checks that the run that covers a segment has each expected address with the right counts and positions. */
export function verifyDirectory(
  { environment, state }: Verified,
  segment: number,
  { expected, problems }: { readonly expected: Positions; readonly problems: string[] },
): void {
  const states = state.segmentStates();
  const level = states.levelOf(segment);
  if (!states.hasBlocks(segment) || level === NO_RUN) return;
  const reader = new LmdbHistoryReader(environment, state);
  for (const [name, positions] of expected) {
    const [side = '', term = ''] = name.split(' ');
    if (side === 'transaction') continue;
    let reported = 0;
    let kept: Uint32Array | undefined;
    reader.directory.visitRun(
      { first: segment, last: segment, level },
      { term, work: new WorkBudget() },
      (part) => {
        for (const count of sideOf(part.counts, side)) reported += count;
        kept = part.positions(side === 'from' ? 'from' : 'to');
      },
    );
    const isSame = kept?.every((position, i) => position === positions[i]) ?? true;
    if (reported === positions.length && isSame) continue;
    problems.push(
      `the directory has ${reported} of the ${positions.length} traces of ${term} as ${side} in segment ${segment}`,
    );
    return;
  }
}

const sideOf = (counts: Float64Array, side: string): Float64Array =>
  side === 'from' ? counts.subarray(0, counts.length / 2) : counts.subarray(counts.length / 2);
