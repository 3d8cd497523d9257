import { type Database, open } from 'lmdb';
import { openTraceStore } from '../../../src/ethereum/store/lmdb/traces/index.ts';
import type { Random } from '../../support/random.ts';

/** Functions that damage an index in a folder that no server uses. Records are read without decompression. */

const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

async function withDatabase<T>(
  folder: string,
  name: string,
  use: (database: Database<Buffer, Buffer>) => T | Promise<T>,
): Promise<T> {
  const root = open<Buffer, Buffer>({ path: folder, maxDbs: 30, ...BINARY });
  try {
    return await use(root.openDB<Buffer, Buffer>({ name, ...BINARY }));
  } finally {
    await root.close();
  }
}

export const keysOf = (folder: string, database: string): Promise<Buffer[]> =>
  withDatabase(folder, database, (records) => [...records.getKeys()].map((key) => Buffer.from(key)));

export interface DamagedRecord {
  readonly database: string;
  readonly key: Buffer | undefined;
  /** Position of the changed bit, from 0 (the first bit) to below 1. Default: the middle of the record. */
  readonly at?: number;
}

/** Changes one bit of a record. */
export const flipBit = (folder: string, { database, key, at = 0.5 }: DamagedRecord): Promise<unknown> =>
  withDatabase(folder, database, (records) => {
    const record = key && records.get(key);
    if (key === undefined || record === undefined) throw new Error(`no such record of ${database}`);
    const changed = Buffer.from(record);
    const bit = Math.floor(8 * changed.length * at);
    changed[bit >> 3] = changed.readUInt8(bit >> 3) ^ (1 << (bit & 7));
    return records.put(key, changed);
  });

/** Changes one bit in each of up to four random records, of any database. Returns the names of the records. */
export async function flipRandomBits(folder: string, random: Random): Promise<string[]> {
  const root = open<Buffer, Buffer>({ path: folder, maxDbs: 30, ...BINARY });
  const damaged: string[] = [];
  try {
    const names = [...root.getKeys()].map((key) => Buffer.from(key).toString().replace('\0', ''));
    const records = names
      .filter((name) => !name.startsWith('format') && !name.includes('floodgate'))
      .flatMap((name) => {
        const database = root.openDB<Buffer, Buffer>({ name, ...BINARY });
        return [...database.getKeys()].map((key) => ({ name, database, key: Buffer.from(key) }));
      });
    const kinds = [...new Set(records.map(({ name }) => name))];
    for (let left = random.between(1, 4); left > 0; left--) {
      const kind = random.pick(kinds);
      const { name, database, key } = random.pick(records.filter((record) => record.name === kind));
      const record = Buffer.from(database.get(key) ?? '');
      const bit = random.below(8 * record.length);
      record[bit >> 3] = record.readUInt8(bit >> 3) ^ (1 << (bit & 7));
      await database.put(key, record);
      damaged.push(`${name} ${name === 'meta' ? key.toString() : key.toString('hex')}`);
    }
  } finally {
    await root.close();
  }
  return damaged;
}

/** Merges the postings of all blocks to disk. Otherwise the server reads all chunks when it starts. */
export async function mergePostings(folder: string): Promise<void> {
  const store = openTraceStore(folder, { maxRecentPositions: 1 });
  await store.apply({ blocks: [] });
  await store.close();
}
