import fs, {
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { smallFileSystem } from '../../../test/support/smallFileSystem.ts';
import { WITHOUT_EVENT_TURN_BATCHING } from './commits.ts';
import { checkStoreFormat, checksummedJson, StoreCopiedError, StoreFile, StoreGoneError } from './index.ts';
import { isSameFile, sealStoreFile } from './storeSeal.ts';

describe('the file of a store', () => {
  let folder: string;
  let data: string;
  const opened = (): StoreFile => {
    const file = new StoreFile(folder);
    file.opened();
    return file;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-file-'));
    data = join(folder, 'data.mdb');
    writeFileSync(data, 'one');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('can be opened again, also after its folder was renamed', () => {
    opened().assertInPlace();
    opened().assertInPlace();
    const moved = `${folder}-moved`;
    renameSync(folder, moved);
    folder = moved;
    opened().assertInPlace();
  });

  it('has a seal that belongs to its owner, also if root writes the seal', (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can change the owner of a file');
    chownSync(data, 4321, 4322);
    sealStoreFile(folder);
    expect(statSync(join(folder, 'store.json'))).toMatchObject({ uid: 4321, gid: 4322 });
  });

  it('has a seal that is on the disk before it gets its name, so that no power failure empties it', () => {
    const flush = vi.spyOn(fs, 'fsyncSync');
    const rename = vi.spyOn(fs, 'renameSync');
    syncBuiltinESMExports();
    try {
      sealStoreFile(folder);
      expect(rename).toHaveBeenCalledAfter(flush);
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    }
  });

  it('is rejected if it is a copy or if its seal is unreadable', () => {
    opened();
    copyFileSync(data, `${data}.copy`);
    renameSync(`${data}.copy`, data);
    expect(() => new StoreFile(folder)).toThrow(StoreCopiedError);
    expect(() => new StoreFile(folder, { isVerified: true })).not.toThrow();
    writeFileSync(join(folder, 'store.json'), '');
    expect(() => new StoreFile(folder)).toThrow(StoreCopiedError);
  });

  it('without a seal is accepted and sealed', () => {
    opened();
    expect(JSON.parse(readFileSync(join(folder, 'store.json'), 'utf8'))).toHaveProperty('inode');
  });

  it('is not sealed if it is opened read-only', () => {
    new StoreFile(folder).opened({ readOnly: true });
    expect(existsSync(join(folder, 'store.json'))).toBe(false);
  });

  it('accepts no writes after it was removed or replaced', () => {
    const file = opened();
    copyFileSync(data, `${data}.copy`);
    renameSync(`${data}.copy`, data);
    expect(() => file.assertInPlace()).toThrow(StoreGoneError);
    rmSync(data);
    expect(() => file.assertInPlace()).toThrow(StoreGoneError);
  });

  it('keeps its identity if the device number changes, unless its creation time is unknown', () => {
    const was = { device: '1', inode: '2', born: '3' };
    expect(isSameFile(was, { ...was, device: '9' })).toBe(true);
    expect(isSameFile(was, { ...was, born: '4' })).toBe(false);
    expect(isSameFile(was, { ...was, born: '0' })).toBe(true);
    expect(isSameFile({ ...was, born: '0' }, { ...was, device: '9' })).toBe(false);
  });
});

describe('the format of a store', () => {
  let folder: string;
  const roots: RootDatabase[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-format-'));
  });
  afterEach(async () => {
    await Promise.all(roots.splice(0).map((root) => root.close()));
    rmSync(folder, { recursive: true, force: true });
  });
  const opened = (readOnly = false): RootDatabase => {
    const root = open({ path: folder, maxDbs: 4, readOnly });
    roots.push(root);
    return root;
  };
  const check = (format: number, { readOnly = false } = {}): void =>
    checkStoreFormat(opened(readOnly), { store: 'rules', folder, format }, { readOnly });

  it('a new store gets the format of this program and opens with it, also read-only', () => {
    check(2);
    check(2);
    check(2, { readOnly: true });
  });

  it('a file without databases, as a killed process leaves it, counts as new', () => {
    opened().openDB({ name: 'format' });
    check(2);
    check(2);
  });

  it('a store without a format is rejected as written before 0.1.0, and stays as it is', () => {
    const root = opened();
    // The key used by commits before 0.1.0.
    root.openDB<number, string>({ name: 'format', encoding: 'json' }).putSync('version', 2);
    root.openDB<string, string>({ name: 'rules' }).putSync('rule', 'of before');
    const message = `the store rules in ${folder} was written before 0.1.0; use a new data folder`;
    expect(() => check(2)).toThrow(message);
    expect(() => check(2)).toThrow(message);
    expect(() => check(2, { readOnly: true })).toThrow(message);
    expect(root.openDB<string, string>({ name: 'rules' }).get('rule')).toBe('of before');
  });

  it('a store of an older format is rejected as written before 0.1.0', () => {
    check(1);
    expect(() => check(2)).toThrow('was written before 0.1.0; use a new data folder');
  });

  it('a store of a newer format is rejected with advice, also read-only', () => {
    check(3);
    expect(() => check(2)).toThrow(
      /has format 3, which a newer Floodgate wrote; this one knows format 2: start the newer/,
    );
    expect(() => check(2, { readOnly: true })).toThrow(/has format 3/);
  });
});

describe('JSON with a checksum', () => {
  const json = checksummedJson('the rules');

  it('decodes to the encoded value', () => {
    for (const value of [{ a: 'ä' }, [1], 'text', 0, null])
      expect(json.decode(json.encode(value))).toEqual(value);
  });

  it('is rejected without a checksum', () => {
    for (const bytes of [Buffer.from('{"mode":"enabled"}'), Buffer.from([1]), Buffer.alloc(0)])
      expect(() => json.decode(bytes)).toThrow(/a record of the rules is damaged/);
  });

  it('is rejected if any bit changed', () => {
    const bytes = json.encode({ mode: 'enabled' });
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => json.decode(changed)).toThrow(/a record of the rules is damaged/);
    }
  });
});

it('a store on a full disk is written again only after a small file could be written', async (context) => {
  const { folder } = smallFileSystem(context, 4 * 1024 * 1024);
  const file = new StoreFile(folder);
  const root = file.withOpen(() =>
    open<Buffer, string>({ path: folder, encoding: 'binary', ...WITHOUT_EVENT_TURN_BATCHING }),
  );
  file.opened();
  const filler = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(filler, Buffer.alloc(bavail * bsize));
  let writes = 0;
  const commit = (): Promise<unknown> =>
    file.commit(() => {
      writes++;
      return root.put('key', Buffer.alloc(100_000));
    });
  await expect(commit()).rejects.toThrow(`the store in ${folder} cannot be written: No space left`);
  for (let i = 0; i < 5; i++)
    await expect(commit()).rejects.toThrow(`the store in ${folder} cannot be written: ENOSPC`);
  expect(writes).toBe(1);
  rmSync(filler);
  await commit();
  await commit();
  expect([writes, root.get('key')?.length]).toEqual([3, 100_000]);
  expect(readdirSync(folder).filter((name) => name.startsWith('probe'))).toEqual([]);
  await file.close(root);
});

it('a store that could not be written is closed while the disk is full', async (context) => {
  const { folder } = smallFileSystem(context, 4 * 1024 * 1024);
  const file = new StoreFile(folder);
  const root = file.withOpen(() =>
    open<Buffer, string>({ path: folder, encoding: 'binary', ...WITHOUT_EVENT_TURN_BATCHING }),
  );
  file.opened();
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize));
  for (let i = 0; i < 2; i++)
    await expect(file.commit(() => root.put('key', Buffer.alloc(100_000)))).rejects.toThrow(
      /cannot be written/,
    );
  await file.close(root);
});
