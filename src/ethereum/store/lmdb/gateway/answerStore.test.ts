import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GatewayStorage, openGatewayStorage } from './openGatewayStorage.ts';

const MAX_BYTES = 1024 * 1024;
const ANSWER_BYTES = 8 * 1024;
const ANSWERS_A_ROUND = 64;
/** Writes ten times the limit in total. */
const ROUNDS = 20;

describe('the result cache in LMDB', () => {
  let folder: string;
  let storage: GatewayStorage;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-answers-'));
    storage = openGatewayStorage(folder, MAX_BYTES);
  });
  afterEach(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Closing the storage writes pending entries. */
  const reopen = async (): Promise<void> => {
    await storage.close();
    storage = openGatewayStorage(folder, MAX_BYTES);
  };
  const fileBytes = (): number => statSync(join(folder, 'gateway', 'data.mdb')).size;

  it('stays within its limit, evicts the oldest entries first, and its file stops growing', async () => {
    const put: [key: string, answer: Buffer][] = [];
    let halfWay = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < ANSWERS_A_ROUND; i++) {
        const entry: (typeof put)[number] = [`answer ${put.length}`, randomBytes(ANSWER_BYTES)];
        put.push(entry);
        storage.answers.put(...entry);
      }
      await reopen();
      if (round === ROUNDS / 2) halfWay = fileBytes();
    }
    const kept = put.filter(([key]) => storage.answers.get(key) !== undefined);
    const keptBytes = kept.length * ANSWER_BYTES;
    expect(keptBytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(keptBytes).toBeGreaterThan(MAX_BYTES * 0.9);
    expect(kept).toEqual(put.slice(-kept.length));
    for (const [key, answer] of kept)
      expect(answer.equals(storage.answers.get(key) ?? Buffer.alloc(0))).toBe(true);
    // Pages of evicted entries are reused.
    expect(fileBytes()).toBeLessThan(1.5 * halfWay);
    expect(fileBytes()).toBeLessThan(8 * MAX_BYTES);
  });

  it('stores no entry while it is not allowed to, and answers from the entries that it has', async () => {
    storage.answers.put('old', Buffer.from('1'));
    await storage.close();
    let isAllowed = false;
    storage = openGatewayStorage(folder, MAX_BYTES, () => isAllowed);
    storage.answers.put('new', Buffer.from('2'));
    expect(storage.answers.get('new')).toBeUndefined();
    expect(storage.answers.get('old')).toEqual(Buffer.from('1'));
    isAllowed = true;
    storage.answers.put('new', Buffer.from('2'));
    await reopen();
    expect(storage.answers.get('new')).toEqual(Buffer.from('2'));
  });

  it('does not store an entry above its limit, and evicts nothing for it', async () => {
    storage.answers.put('small', Buffer.from('1'));
    storage.answers.put('large', randomBytes(MAX_BYTES + 1));
    await reopen();
    expect(storage.answers.get('large')).toBeUndefined();
    expect(storage.answers.get('small')).toEqual(Buffer.from('1'));
  });
});
