import { existsSync, renameSync, rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { MAINNET } from '../config/index.ts';
import { NodeClient, NodeTraces, type TraceProvider } from '../ethereum/nodes/index.ts';
import { openTraceStore } from '../ethereum/store/lmdb/traces/index.ts';
import type { TraceStore } from '../ethereum/traces/index.ts';
import { indexFolder } from './indexFolder.ts';

/**
 * For a development chain, whose saved state may be older than the index, gone, or another one: moves the index of a chain
 * that the node does not have aside, so that a new one is made. Nothing else ever throws an index away: in front of a real
 * node such an index is a reason to stop and ask. The data folder must be locked.
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
    `the index is of a development chain that is no more (${difference}): it was set aside, and is built anew`,
  );
}

/** Why the store's chain cannot become the node's by undoing blocks that are not final; undefined where it can. */
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
