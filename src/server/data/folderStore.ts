import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredKey } from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { type Batches, type StoreDump, StoreNotEmpty, type StoreRecord } from '../../rules/index.ts';
import { readRules, writeRules } from '../../rules/store/lmdb/index.ts';
import { lockDataDir } from './dataDirLock.ts';

const STORES = ['gateway', 'rules'] as const;

/** Reads and fills the rules and API keys of a data folder. Throws DataDirInUseError if a server uses the folder. */
export function folderStore(dataDir: string): StoreDump {
  return {
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
  };
}

async function locked(dataDir: string, use: () => Promise<void>): Promise<void> {
  const lock = lockDataDir(dataDir);
  try {
    await use();
  } finally {
    lock.release();
  }
}

async function* batchesIn(dataDir: string): AsyncGenerator<readonly StoreRecord[]> {
  const gateway = existsSync(join(dataDir, 'gateway')) ? openGateway(dataDir) : undefined;
  const keys = gateway?.keys.entries() ?? [];
  await gateway?.close();
  for (const { secretHash, key } of keys) yield [{ table: 'gatewayKeys', key: secretHash, value: key }];
  yield* readRules(join(dataDir, 'rules'));
}

async function write(dataDir: string, batches: Batches): Promise<void> {
  const keys: StoredKey[] = [];
  async function* withoutKeys(): AsyncGenerator<readonly StoreRecord[]> {
    for await (const batch of batches) {
      for (const { table, key, value } of batch)
        if (table === 'gatewayKeys') keys.push({ secretHash: key, key: value as StoredKey['key'] }); // from a gateway store
      yield batch;
    }
  }
  await writeRules(join(dataDir, 'rules'), withoutKeys());
  const gateway = openGateway(dataDir);
  await gateway.keys.replaceAll(keys);
  await gateway.close();
}

/** Opens the gateway store without a limit for cached results, so that none is evicted. */
const openGateway = (dataDir: string) => openGatewayStorage(dataDir, Number.MAX_SAFE_INTEGER);
