import type { Logger } from 'pino';
import { expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { TraceProvider } from '../../ethereum/nodes/index.ts';
import type { CombinedTraceStore, SharedReader, SharedWriter } from '../../ethereum/store/shared/index.ts';
import { type Hash, type IndexedBlock, indexBlock } from '../../ethereum/traces/index.ts';
import { followSharedIndex } from './followSharedIndex.ts';

const hash = `0x${'ab'.repeat(32)}` as Hash; // 32 bytes as digits

/** Follows a shared index whose local part has a final block that the shared one lacks. */
function follow(chainId: number, finality?: 'none') {
  const written: number[] = [];
  const warnings: string[] = [];
  let passes = 0;
  const header = { number: 5, hash, parentHash: hash, timestamp: 1, transactionHashes: [] };
  const reader = {
    lastBlock: async () => undefined,
    firstMissing: async () => (written.length === 0 ? 5 : undefined),
    unavailable: async () => [],
  };
  const combined = {
    local: {
      chain: () => {
        passes++;
        return { chainId, genesisHash: hash };
      },
      finalizedNumber: () => 5,
      indexedBlock: () => indexBlock(header, []),
    },
    shared: reader as Partial<SharedReader> as SharedReader, // the filler calls no other method
  } as unknown as CombinedTraceStore;
  const writer = {
    write: async (blocks: readonly IndexedBlock[]) =>
      written.push(...blocks.map(({ block: { number } }) => number)),
  } as Partial<SharedWriter> as SharedWriter; // the filler calls no other method
  const work = followSharedIndex(
    { pollIntervalMs: 1, finality, fromBlock: 5 },
    {
      combined,
      writer: () => writer,
      source: {} as TraceProvider,
      report: { failed: () => undefined, recovered: () => undefined },
      logger: { warn: (text: string) => warnings.push(text), debug: () => undefined } as unknown as Logger,
    },
  );
  return { work, written, warnings, passes: () => passes };
}

it('an ingest server copies final blocks to the shared index', async () => {
  const { work, written, warnings } = follow(1);
  await until('a written block', () => written.length > 0);
  await work.stop();
  expect([written, warnings]).toEqual([[5], []]);
});

it('an ingest server without finality writes nothing, and warns once', async () => {
  const { work, written, warnings, passes } = follow(1, 'none');
  await until('ten passes', () => passes() > 10);
  await work.stop();
  expect([written, warnings]).toEqual([
    [],
    ['index.finality is none: no block is written to the trace store'],
  ]);
});
