import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GrowingChain } from '../../../../../test/contract/growingChain.ts';
import { Random } from '../../../../../test/support/random.ts';
import { until } from '../../../../../test/support/until.ts';
import type { UpgradeProgress } from '../../../../platform/storeFile/index.ts';
import type { TraceStore } from '../../../traces/index.ts';
import { TraceEnvironment, type TraceFormat } from './environment.ts';
import { uint32Key } from './keys.ts';
import { openTraceReader, openTraceStore } from './traceStore.ts';

const MAX_BYTES = 1e9;
const FIRST = 1_000;
const BLOCKS = 120;
const BLOCKS_PER_STEP = 10;
const OLD_RECORD_BYTES = 76;

/**
 * A format that there is not: a block's record has a checksum behind it. Whoever reads records reads both, as an upgrade in steps
 * asks for. None was needed so far, so this one stands for those to come.
 */
const NEXT: TraceFormat = {
  version: 4,
  upgrade:
    ({ blocks }) =>
    ({ cursor }) => {
      let left = BLOCKS_PER_STEP;
      for (const { key, value } of blocks.getRange({ start: uint32Key(cursor) })) {
        if (left-- === 0) return key.readUInt32BE(0);
        if (value.length === OLD_RECORD_BYTES)
          void blocks.put(Buffer.from(key), Buffer.concat([value, uint32Key(crc32(value))]));
      }
      return undefined;
    },
};

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'floodgate-upgrade-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

async function expectAnswersOf(
  store: Pick<TraceStore, 'blockTraces' | 'filter'>,
  chain: GrowingChain,
): Promise<void> {
  for (const number of [FIRST, FIRST + 15, FIRST + BLOCKS / 2, chain.next - 1]) {
    const traces = chain.traces.filter(({ blockNumber }) => blockNumber === number);
    expect(JSON.parse(String(await store.blockTraces(number, MAX_BYTES)))).toEqual(traces);
  }
  const filter = {
    ...{ fromBlock: FIRST, toBlock: chain.next - 1, fromAddresses: [], toAddresses: [] },
    ...{ mode: 'intersection' as const, after: 7, count: 200 },
  };
  expect(JSON.parse(String(await store.filter(filter, MAX_BYTES)))).toEqual(chain.traces.slice(7, 207));
}

/** Opens the index in the next format; what it tells of its upgrade, and what of it is done at each step. */
function openNext(stepped: (store: TraceStore, steps: number) => void = () => undefined) {
  const told: UpgradeProgress[] = [];
  const outcome = { ended: false, failure: undefined as unknown };
  const upgrade = {
    progressed(progress: UpgradeProgress) {
      told.push(progress);
      // The first is told while the store is still being opened.
      if (told.length > 1) stepped(store, told.length - 1);
    },
    ended: () => {
      outcome.ended = true;
    },
    failed: (error: unknown) => {
      outcome.failure = error;
    },
  };
  const store: TraceStore = openTraceStore(path, { format: NEXT, upgrade });
  return { store, told, outcome };
}

async function recordBytes(): Promise<Map<number, number>> {
  const environment = TraceEnvironment.open(path, { format: NEXT });
  const bytes = new Map<number, number>();
  for (const { key, value } of environment.blocks.getRange()) bytes.set(key.readUInt32BE(0), value.length);
  await environment.root.close();
  return bytes;
}

test('an index is upgraded in steps, read and written meanwhile, from where it was broken off', async () => {
  const chain = new GrowingChain(new Random(17), FIRST);
  const old = openTraceStore(path);
  await chain.grow(old, BLOCKS);
  await old.close();

  // A stop in the middle.
  let closed: Promise<void> | undefined;
  const first = openNext((store, steps) => {
    if (steps === 4) closed = store.close();
  });
  await until('it is closed', () => closed !== undefined || first.outcome.failure !== undefined);
  expect(first.outcome.failure).toBe(undefined);
  await closed;
  expect(first.told.map(({ cursor }) => cursor)).toEqual(
    [0, 10, 20, 30, 40].map((n) => (n === 0 ? 0 : FIRST + n)),
  );
  expect(first.outcome).toEqual({ ended: false, failure: undefined });
  const half = [...(await recordBytes()).values()];
  expect(half.filter((bytes) => bytes > OLD_RECORD_BYTES)).toHaveLength(4 * BLOCKS_PER_STEP);

  // The version before cannot read what is new, and says so; the next one reads both, also beside a writer.
  expect(() => openTraceStore(path)).toThrow('the store traces has format 4');
  const reader = openTraceReader(path, { format: NEXT });
  await expectAnswersOf(reader, chain);
  await reader.close();

  const work: Promise<void>[] = [];
  const second = openNext((store, steps) => {
    work.push(expectAnswersOf(store, chain));
    if (steps === 2) work.push(chain.grow(store, 3).then(() => expectAnswersOf(store, chain)));
  });
  await expectAnswersOf(second.store, chain);
  await until('it has ended', () => second.outcome.ended || second.outcome.failure !== undefined);
  expect(second.outcome.failure).toBe(undefined);
  await Promise.all(work);
  expect(second.told[0]?.cursor).toBe(FIRST + 40);
  expect(second.outcome.failure).toBe(undefined);
  await expectAnswersOf(second.store, chain);
  await second.store.close();
  const whole = await recordBytes();
  for (let number = FIRST; number < FIRST + BLOCKS; number++)
    expect(whole.get(number)).toBe(OLD_RECORD_BYTES + 4);

  const third = openNext();
  await expectAnswersOf(third.store, chain);
  await third.store.close();
  expect(third.told).toEqual([]);
});

test('a step that fails ends nothing: the index is read and written, and the next start goes on', async () => {
  const chain = new GrowingChain(new Random(18), FIRST);
  const old = openTraceStore(path);
  await chain.grow(old, BLOCKS);
  await old.close();
  const failures: unknown[] = [];
  const full: TraceFormat = {
    version: 4,
    upgrade: () => () => {
      throw new Error('the disk is full');
    },
  };
  const upgrade = {
    progressed: () => undefined,
    ended: () => expect.unreachable(),
    failed: (error: unknown) => failures.push(error),
  };
  const store = openTraceStore(path, { format: full, upgrade });
  await until('it has failed', () => failures.length > 0);
  await chain.grow(store, 2);
  await expectAnswersOf(store, chain);
  await store.close();
  const next = openNext();
  await until('it has ended', () => next.outcome.ended || next.outcome.failure !== undefined);
  expect(next.outcome.failure).toBe(undefined);
  await expectAnswersOf(next.store, chain);
  await next.store.close();
});
