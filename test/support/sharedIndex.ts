import { CombinedTraceStore, openSharedTraces } from '../../src/ethereum/store/shared/index.ts';
import type {
  ChainIdentity,
  Hash,
  IndexChange,
  IndexedBlock,
  TraceStore,
} from '../../src/ethereum/traces/index.ts';
import { lmdbTraces } from '../contract/lmdbTraces.ts';

let chains = 0;

/** Returns the identity of a chain that no other test uses. */
export const newChain = (): ChainIdentity => ({
  chainId: 1_000_000 + chains++,
  genesisHash: `0x${'ab'.repeat(32)}` as Hash, // 32 bytes as digits
});

/**
 * A store that moves all blocks except the newest `keepBlocks` ones to the shared index, as an ingest server does with
 * final blocks. An undo of such blocks rewinds the shared index. The tables must exist.
 */
export async function movingStore(url: string, keepBlocks: number) {
  const chain = newChain();
  const folder = await lmdbTraces();
  /** The blocks of both stores. */
  const blocks = new Map<number, IndexedBlock>();
  const isMoved = new Set<number>();
  const open = async (): Promise<TraceStore> => {
    const traces = openSharedTraces(url);
    const local = await folder.open();
    const writer = traces.writer(chain);
    const reader = traces.reader(chain);
    /** Reads the shared index although the local one is not bound to a chain, because the contract binds it. */
    class MovingStore extends CombinedTraceStore {
      override get shared() {
        return reader;
      }
    }
    const store = new MovingStore({ keepBlocks: 0 }, { local, shared: () => reader });
    /** Returns the numbers of the newest contiguous blocks. */
    const newest = (): Set<number> => {
      const kept = new Set<number>();
      for (let next = Math.max(...blocks.keys()); blocks.has(next) && kept.size < keepBlocks; next--)
        kept.add(next);
      return kept;
    };
    const move = async ({ blocks: added, undoFrom, ...change }: IndexChange): Promise<void> => {
      const start = local.head() === undefined ? 0 : Math.min(...newest());
      const older = undoFrom === undefined ? added.filter(({ block }) => block.number < start) : [];
      const newer = added.filter((block) => !older.includes(block));
      await writer.write(older);
      await store.apply({ ...change, ...(undoFrom !== undefined && { undoFrom }), blocks: newer });
      if (undoFrom !== undefined) {
        const removed = [...isMoved].filter((number) => number >= undoFrom);
        if (removed.length > 0) await writer.rewind(undoFrom - 1, Math.max(...removed));
        for (const number of removed) isMoved.delete(number);
        for (const number of [...blocks.keys()]) if (number >= undoFrom) blocks.delete(number);
      }
      for (const block of older) isMoved.add(block.block.number);
      for (const block of added) {
        const held = blocks.get(block.block.number);
        if (held === undefined || held.block.unavailable !== undefined) blocks.set(block.block.number, block);
      }
      const kept = newest();
      const moved = [...blocks].filter(([number]) => !kept.has(number) && !isMoved.has(number));
      if (moved.length > 0) await writer.write(moved.sort(([a], [b]) => a - b).map(([, block]) => block));
      for (const [number] of moved) isMoved.add(number);
      const again = [...kept].sort((a, b) => a - b).flatMap((number) => blocks.get(number) ?? []);
      await store.apply({ blocks: again });
      await local.onDemand?.evict(0, (number) => kept.has(number));
    };
    return new Proxy<TraceStore>(store, {
      get(target, name) {
        if (name === 'apply') return move;
        if (name === 'close') return () => store.close().then(() => traces.close());
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  return { open, remove: folder.remove };
}
