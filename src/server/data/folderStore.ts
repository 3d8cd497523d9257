import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredKey } from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { type Batches, type StoreDump, StoreNotEmpty } from '../../rules/index.ts';
import { readRules, writeRules } from '../../rules/store/lmdb/index.ts';
import { lockDataDir } from './dataDirLock.ts';

const STORES = ['gateway', 'rules'] as const;

/** Reads and fills the rules and API keys of a data folder. Throws DataDirInUseError if a server uses the folder. */
export const folderStore = (dataDir: string): StoreDump => ({
  read: (use) => locked(dataDir, () => use(batchesIn(dataDir))),
  fill: (batches) =>
    locked(dataDir, async () => {
      const found = STORES.find((store) => existsSync(join(dataDir, store)));
      if (found !== undefined)
        throw new StoreNotEmpty(`${dataDir} is not empty: it has a folder ${found}. Choose another folder`);
      // An interrupted copy may have left this folder.
      const unfinished = join(dataDir, 'store-copy');
      rmSync(unfinished, { recursive: true, force: true });
      mkdirSync(unfinished, { mode: 0o700 });
      try {
        await write(unfinished, batches);
        for (const store of STORES) renameSync(join(unfinished, store), join(dataDir, store));
      } finally {
        rmSync(unfinished, { recursive: true, force: true });
      }
    }),
});

async function locked(dataDir: string, use: () => Promise<void>): Promise<void> {
  const lock = lockDataDir(dataDir);
  try {
    await use();
  } finally {
    lock.release();
  }
}

async function* batchesIn(dataDir: string): Batches {
  yield* readRules(join(dataDir, 'rules'));
  if (!existsSync(join(dataDir, 'gateway'))) return;
  const gateway = openGateway(dataDir);
  const rows = gateway.keys
    .entries()
    .map(({ secretHash, key }) => ({ hash: secretHash, changed_at: 0, key }));
  await gateway.close();
  if (rows.length > 0) yield { table: 'gateway_keys', rows };
}

async function write(dataDir: string, batches: Batches): Promise<void> {
  const keys: StoredKey[] = [];
  async function* withoutKeys(): Batches {
    for await (const batch of batches)
      if (batch.table !== 'gateway_keys') yield batch;
      else
        for (const { hash, key } of batch.rows) keys.push({ secretHash: hash, key: key as StoredKey['key'] }); // of a gateway
  }
  await writeRules(join(dataDir, 'rules'), withoutKeys());
  const gateway = openGateway(dataDir);
  await gateway.keys.replaceAll(keys);
  await gateway.close();
}

/** Opens the gateway store without a limit for cached results, so that none is evicted. */
const openGateway = (dataDir: string) => openGatewayStorage(dataDir, Number.MAX_SAFE_INTEGER);
