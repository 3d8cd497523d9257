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
import {
  checkStoreFormat,
  checksummedJson,
  PendingUpgrade,
  StoreCopiedError,
  StoreFile,
  StoreGoneError,
} from './index.ts';
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
      put: (key: string, value: number) => values.set(key, value),
      remove: (key: string) => values.delete(key),
    };
  };
  const write = { isNew: false };

  it('is upgraded once, where it is older', () => {
    const held = database();
    const from: number[] = [];
    const format = { store: 'rules', current: 3, upgrade: (version: number) => void from.push(version) };
    checkStoreFormat(format, held, write);
    checkStoreFormat(format, held, write);
    expect([held.get('version'), from]).toEqual([3, [1]]);
  });

  it('is upgraded in steps, from where it was broken off, and from the start where a further version comes between', () => {
    const held = database();
    const steps: string[] = [];
    const begin = (current: number): PendingUpgrade => {
      checkStoreFormat({ store: 'traces', current, upgrade: 'inSteps' }, held, write);
      return new PendingUpgrade(held, ({ from, cursor }) => {
        steps.push(`${from}@${cursor}`);
        return cursor < 20 ? cursor + 10 : undefined;
      });
    };
    begin(2).step();
    expect(held.get('version')).toBe(2);
    begin(2).step();
    const last = begin(3);
    expect(last.progress).toEqual({ from: 1, cursor: 0 });
    while (last.progress !== undefined) last.step();
    expect(steps).toEqual(['1@0', '1@10', '1@0', '1@10', '1@20']);
    expect(begin(3).progress).toBe(undefined);
    expect(() => begin(2)).toThrow(/has format 3/);
  });

  it('is not upgraded for ever by a step that comes no further', () => {
    const held = database();
    checkStoreFormat({ store: 'traces', current: 2, upgrade: 'inSteps' }, held, write);
    expect(() => new PendingUpgrade(held, ({ cursor }) => cursor).step()).toThrow('the upgrade stays at 0');
  });

  it('of a new store is this one, without an upgrade', () => {
    const upgrade = () => expect.unreachable();
    const held = database();
    checkStoreFormat({ store: 'rules', current: 3, upgrade }, held, { isNew: true });
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
