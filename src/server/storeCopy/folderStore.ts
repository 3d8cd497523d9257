/** A data folder as a store to copy: its rules, and the API keys of its gateway. No server may run on it. */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredKey } from '../../ethereum/gateway/index.ts';
import { type GatewayStorage, openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { StoreNotEmpty, type StoreRecord, type WholeStore } from '../../rules/index.ts';
import { assertFinished, unfinishedFile, WholeRules } from '../../rules/store/lmdb/index.ts';
import { lockDataDir } from '../dataDirLock.ts';

/** Final answers that the gateway keeps stay as they are: none is written here. */
const MAX_ANSWER_BYTES = Number.MAX_SAFE_INTEGER;

/** Throws DataDirInUseError where a server runs on the folder. */
export function openFolderStore(dataDir: string): WholeStore {
  const lock = lockDataDir(dataDir);
  return {
    async read(use) {
      assertFinished(dataDir);
      return use(recordsOf(dataDir));
    },

    async fill(records, check) {
      if (!existsSync(unfinishedFile(dataDir)) && !(await isEmpty(dataDir))) throw new StoreNotEmpty(dataDir);
      mark(dataDir);
      try {
        await clear(dataDir);
        await write(dataDir, records);
        await check(recordsOf(dataDir));
      } catch (error) {
        await clear(dataDir);
        unmark(dataDir);
        throw error;
      }
      unmark(dataDir);
    },

    async close() {
      lock.release();
    },
  };
}

async function isEmpty(dataDir: string): Promise<boolean> {
  const hasKeys = await withKeys(dataDir, async ({ keys }) => !keys.isEmpty());
  if (hasKeys || !hasStore(dataDir, 'rules')) return !hasKeys;
  return withRules(dataDir, async (rules) => rules.isEmpty);
}

async function* recordsOf(dataDir: string): AsyncGenerator<StoreRecord> {
  const rules = new WholeRules(dataDir);
  try {
    yield* rules.read();
  } finally {
    await rules.close();
  }
  const keys = (await withKeys(dataDir, async (storage) => storage.keys.entries())) ?? [];
  for (const { secretHash, key } of keys) yield { kind: 'key', hash: secretHash, key };
}

async function write(dataDir: string, records: AsyncIterable<StoreRecord>): Promise<void> {
  const keys: StoredKey[] = [];
  async function* withoutKeys(): AsyncGenerator<Exclude<StoreRecord, { kind: 'key' }>> {
    for await (const record of records)
      if (record.kind === 'key') keys.push({ secretHash: record.hash, key: record.key as StoredKey['key'] });
      else yield record; // a key is what a store of keys gave
  }
  await withRules(dataDir, (rules) => rules.write(withoutKeys()));
  if (keys.length > 0) await withKeys(dataDir, (storage) => storage.keys.replaceAll(keys), { makes: true });
}

async function clear(dataDir: string): Promise<void> {
  rmSync(join(dataDir, 'rules'), { recursive: true, force: true });
  await withKeys(dataDir, (storage) => storage.keys.replaceAll([]));
}

const hasStore = (dataDir: string, store: string): boolean => existsSync(join(dataDir, store));

async function withRules<T>(dataDir: string, use: (rules: WholeRules) => Promise<T>): Promise<T> {
  const rules = new WholeRules(dataDir);
  try {
    return await use(rules);
  } finally {
    await rules.close();
  }
}

/** Undefined where there is no gateway, and none is made. */
async function withKeys<T>(
  dataDir: string,
  use: (storage: GatewayStorage) => Promise<T>,
  { makes = false } = {},
): Promise<T | undefined> {
  if (!makes && !hasStore(dataDir, 'gateway')) return undefined;
  const storage = openGatewayStorage(dataDir, MAX_ANSWER_BYTES);
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

/** On the disk before anything else is. */
function mark(dataDir: string): void {
  writeFileSync(unfinishedFile(dataDir), '', { flush: true, mode: 0o600 });
  flushFolder(dataDir);
}

function unmark(dataDir: string): void {
  rmSync(unfinishedFile(dataDir));
  flushFolder(dataDir);
}

function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
