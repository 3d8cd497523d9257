import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkStoreFormat, checksummedJson, StoreCopiedError, StoreFile, StoreGoneError } from './index.ts';
import { isSameFile } from './storeSeal.ts';

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

  it('is opened again where it was left, also where its folder was renamed', () => {
    opened().assertInPlace();
    opened().assertInPlace();
    const moved = `${folder}-moved`;
    renameSync(folder, moved);
    folder = moved;
    opened().assertInPlace();
  });

  it('is refused where it is a copy, or what is remembered cannot be read', () => {
    opened();
    copyFileSync(data, `${data}.copy`);
    renameSync(`${data}.copy`, data);
    expect(() => new StoreFile(folder)).toThrow(StoreCopiedError);
    expect(() => new StoreFile(folder, { isVerified: true })).not.toThrow();
    writeFileSync(join(folder, 'store.json'), '');
    expect(() => new StoreFile(folder)).toThrow(StoreCopiedError);
  });

  it('is one that a version before left, where nothing is remembered, and is remembered from then on', () => {
    opened();
    expect(JSON.parse(readFileSync(join(folder, 'store.json'), 'utf8'))).toHaveProperty('inode');
  });

  it('is not touched where it is only read', () => {
    new StoreFile(folder).opened({ readOnly: true });
    expect(existsSync(join(folder, 'store.json'))).toBe(false);
  });

  it('takes no more where it was removed or replaced', () => {
    const file = opened();
    copyFileSync(data, `${data}.copy`);
    renameSync(`${data}.copy`, data);
    expect(() => file.assertInPlace()).toThrow(StoreGoneError);
    rmSync(data);
    expect(() => file.assertInPlace()).toThrow(StoreGoneError);
  });

  it('is the same after a restart that gives its device another number, unless nothing tells when it was made', () => {
    const was = { device: '1', inode: '2', born: '3' };
    expect(isSameFile(was, { ...was, device: '9' })).toBe(true);
    expect(isSameFile(was, { ...was, born: '4' })).toBe(false);
    expect(isSameFile(was, { ...was, born: '0' })).toBe(true);
    expect(isSameFile({ ...was, born: '0' }, { ...was, device: '9' })).toBe(false);
  });
});

describe('the format of a store', () => {
  const database = (version?: number) => {
    const values = new Map(version === undefined ? [] : [['version', version]]);
    return {
      get: (key: string) => values.get(key),
      putSync: (key: string, value: number) => values.set(key, value),
    };
  };
  const write = { isNew: false, inTransaction: (work: () => void) => work() };

  it('is upgraded once, where it is older', () => {
    const held = database();
    const from: number[] = [];
    const format = { store: 'rules', current: 3, upgrade: (version: number) => void from.push(version) };
    checkStoreFormat(format, held, write);
    checkStoreFormat(format, held, write);
    expect([held.get('version'), from]).toEqual([3, [1]]);
  });

  it('of a new store is this one, without an upgrade', () => {
    const upgrade = () => expect.unreachable();
    const held = database();
    checkStoreFormat({ store: 'rules', current: 3, upgrade }, held, { ...write, isNew: true });
    expect(held.get('version')).toBe(3);
  });

  it('is refused where it is newer, also to read only', () => {
    const format = { store: 'rules', current: 2 };
    expect(() => checkStoreFormat(format, database(3), undefined)).toThrow(/the store rules has format 3/);
    checkStoreFormat(format, undefined, undefined);
  });
});

describe('JSON with a checksum', () => {
  const json = checksummedJson('the rules');

  it('is read as it was written, and as it was written before there were checksums', () => {
    for (const value of [{ a: 'ä' }, [1], 'text', 0, null]) {
      expect(json.decode(json.encode(value))).toEqual(value);
      expect(json.decode(Buffer.from(JSON.stringify(value)))).toEqual(value);
    }
  });

  it('is refused where any bit of it changed', () => {
    const bytes = json.encode({ mode: 'enabled' });
    for (let bit = 8; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => json.decode(changed)).toThrow(/a record of the rules is damaged/);
    }
  });
});
