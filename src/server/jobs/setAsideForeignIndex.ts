import { existsSync, renameSync, rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { MAINNET } from '../../config/index.ts';
import { NodeClient, NodeTraces, type TraceProvider } from '../../ethereum/nodes/index.ts';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import type { TraceStore } from '../../ethereum/traces/index.ts';
import { indexFolder } from './indexFolder.ts';

/**
 * If a development node has another chain than its index, renames the folder of the index, so that a new index is
 * created. Such a node may have restored an older state or lost its state. For real nodes a mismatch is an error, and
 * no other code discards an index. The data folder must be locked.
 */
export async function setAsideForeignIndex(dataDir: string, nodeUrl: string, logger: Logger): Promise<void> {
  const folder = indexFolder(dataDir, MAINNET);
  if (!existsSync(folder)) return;
  const client = new NodeClient(nodeUrl);
  const store = openTraceStore(folder);
  const difference = await differenceOf(store, new NodeTraces(client)).finally(async () => {
    await store.close();
    await client.close();
  });
  if (difference === undefined) return;
  const aside = `${folder}.of-another-chain`;
  rmSync(aside, { recursive: true, force: true });
  renameSync(folder, aside);
  logger.warn(
    { aside },
    `moved aside the index of an earlier development chain (${difference}): building a new one`,
  );
}

/** Returns how the chain of the index differs from that of the node; undefined if final blocks do not differ. */
async function differenceOf(store: TraceStore, source: TraceProvider): Promise<string | undefined> {
  const held = await store.chain();
  if (held === undefined) return undefined;
  const chain = await source.chain();
  if (held.chainId !== chain.chainId || held.genesisHash !== chain.genesisHash) return 'another genesis';
  const final = await store.finalizedNumber();
  const block = final === undefined ? undefined : await store.block(final);
  if (block === undefined) return undefined;
  const ref = await source.blockRef(block.number);
  return ref?.hash === block.hash ? undefined : `another block ${block.number}, which was final`;
}
