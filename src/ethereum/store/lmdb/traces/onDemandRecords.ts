import type { IndexedBlock } from '../../../traces/index.ts';
import { ON_DEMAND_KEY, readIntact, type TraceEnvironment } from './environment.ts';
import type { IndexState } from './indexState.ts';
import { SIDES, uint32Key } from './keys.ts';
import type { Writes } from './write/writes.ts';

/** A block that was added on demand. Blocks with the lowest ages are evicted first. */
export interface OnDemandBlock {
  readonly number: number;
  readonly age: number;
  readonly bytes: number;
}

interface Totals {
  readonly bytes: number;
  readonly nextAge: number;
}

interface Stores {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
}

/** Size of the records of a block: hashes, attributes, keys, and its share of the record of the segment. */
const RECORDS_BYTES = 512;
const ATTRIBUTES_BYTES_PER_TRACE = 2;
/** A position has 4 bytes. The rest is a share of the key of its posting list; most lists of a segment are short. */
const BYTES_PER_POSTING = 16;

/** Returns the size of a block in the budget of on-demand blocks. */
export function onDemandBytesOf({ block, chunks, postings }: IndexedBlock): number {
  const chunkBytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const positions = SIDES.reduce((sum, side) => sum + postings[side].positions.length, 0);
  const attributesBytes = ATTRIBUTES_BYTES_PER_TRACE * block.traceCount;
  return RECORDS_BYTES + attributesBytes + chunkBytes + BYTES_PER_POSTING * positions;
}

export function onDemandTotals({ environment, state }: Stores): Totals {
  const record = state.read(environment.meta, ON_DEMAND_KEY);
  return record === undefined
    ? { bytes: 0, nextAge: 0 }
    : { bytes: record.readDoubleBE(0), nextAge: record.readDoubleBE(8) };
}

function onDemandBlock(number: number, { environment, state }: Stores): OnDemandBlock | undefined {
  const record = state.read(environment.onDemand, uint32Key(number));
  return record && { number, age: record.readDoubleBE(0), bytes: record.readDoubleBE(8) };
}

/** Yields the on-demand blocks, oldest first. */
export function* oldestOnDemand(stores: Stores): Generator<OnDemandBlock> {
  const { environment } = stores;
  for (const { value } of environment.range(environment.onDemandAges, {})) {
    const block = onDemandBlock(value.readUInt32BE(0), stores);
    if (block !== undefined) yield block;
  }
}

/**
 * Adds the writes that derive the list of ages and the totals again from the intact records of on-demand blocks. A block
 * whose record is damaged becomes permanent. Returns whether any record was wrong.
 */
export function rebuildOnDemand(environment: TraceEnvironment, writes: Writes): boolean {
  const { meta, onDemand, onDemandAges } = environment;
  const ages = new Map<number, number>();
  let [bytes, nextAge, isWrong] = [0, 0, false];
  for (const key of [...onDemand.getKeys()].map((key) => Buffer.from(key))) {
    const record = readIntact(onDemand, key);
    if (record === undefined) {
      writes.delete(onDemand, key);
      isWrong = true;
      continue;
    }
    const age = record.readDoubleBE(0);
    ages.set(age, key.readUInt32BE(0));
    bytes += record.readDoubleBE(8);
    nextAge = Math.max(nextAge, age + 1);
  }
  for (const key of [...onDemandAges.getKeys()].map((key) => Buffer.from(key))) {
    const number = readIntact(onDemandAges, key)?.readUInt32BE(0);
    if (number !== undefined && ages.get(key.readDoubleBE(0)) === number) ages.delete(key.readDoubleBE(0));
    else {
      writes.delete(onDemandAges, key);
      isWrong = true;
    }
  }
  for (const [age, number] of ages) writes.put(onDemandAges, doubles(age), uint32Key(number));
  const total = readIntact(meta, ON_DEMAND_KEY)?.readDoubleBE(0);
  const isTotalRight = total === bytes || (bytes === 0 && !meta.doesExist(ON_DEMAND_KEY));
  if (!isWrong && ages.size === 0 && isTotalRight) return false;
  writes.put(meta, ON_DEMAND_KEY, doubles(bytes, nextAge));
  return true;
}

/** Collects changes of the records of on-demand blocks. `finish` must be called after the last change. */
export class OnDemandChanges {
  readonly #stores: Stores;
  readonly #writes: Writes;
  readonly #changed = new Map<number, OnDemandBlock | undefined>();
  #totals: Totals;

  constructor(stores: Stores, writes: Writes) {
    this.#stores = stores;
    this.#writes = writes;
    this.#totals = onDemandTotals(stores);
  }

  get(number: number): OnDemandBlock | undefined {
    return this.#changed.has(number) ? this.#changed.get(number) : onDemandBlock(number, this.#stores);
  }

  /** Adds a block. If the block is on demand already, changes its size. */
  put(number: number, bytes: number): void {
    const { onDemand, onDemandAges } = this.#stores.environment;
    const old = this.get(number);
    const age = old?.age ?? this.#totals.nextAge;
    this.#totals = {
      bytes: this.#totals.bytes + bytes - (old?.bytes ?? 0),
      nextAge: Math.max(this.#totals.nextAge, age + 1),
    };
    this.#changed.set(number, { number, age, bytes });
    this.#writes.put(onDemand, uint32Key(number), doubles(age, bytes));
    this.#writes.put(onDemandAges, doubles(age), uint32Key(number));
  }

  delete(number: number): void {
    const { onDemand, onDemandAges } = this.#stores.environment;
    const old = this.get(number);
    if (old === undefined) return;
    this.#totals = { ...this.#totals, bytes: this.#totals.bytes - old.bytes };
    this.#changed.set(number, undefined);
    this.#writes.delete(onDemand, uint32Key(number));
    this.#writes.delete(onDemandAges, doubles(old.age));
  }

  finish(): void {
    if (this.#changed.size === 0) return;
    const { bytes, nextAge } = this.#totals;
    this.#writes.put(this.#stores.environment.meta, ON_DEMAND_KEY, doubles(bytes, nextAge));
  }
}

/** Encodes numbers from 0 on as big-endian doubles, whose bytes have the order of the numbers. */
function doubles(...numbers: readonly number[]): Buffer {
  const record = Buffer.allocUnsafe(8 * numbers.length);
  numbers.forEach((number, i) => {
    record.writeDoubleBE(number, 8 * i);
  });
  return record;
}
