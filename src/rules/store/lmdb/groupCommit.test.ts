import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, open, type RootDatabase } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../index.ts';
import { GroupCommit } from './groupCommit.ts';

let folder: string;
let root: RootDatabase;
let database: Database<number, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-group-commit-'));
  root = open({ path: folder, maxDbs: 2, overlappingSync: false });
  database = root.openDB({ name: 'records' });
});
afterEach(async () => {
  await root.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Commits to the real database, several iterations before and after the transaction. The next `failures` commits fail. */
function committing({ failures = 0, hasReserve = true, isFull = false, isReadOnly = false } = {}) {
  const state = {
    failures,
    commits: 0,
    transactions: 0,
    running: 0,
    most: 0,
    isGone: false,
    freed: 0,
    isReadOnly,
  };
  const commits = new GroupCommit(root, {
    reserve: {
      ensure() {
        if (state.isReadOnly && !hasReserve) throw new Error('EROFS');
        return !isFull;
      },
      free() {
        state.freed++;
        if (state.isReadOnly) throw new Error('EROFS');
        return hasReserve && state.freed === 1;
      },
    },
    file: {
      assertInPlace() {
        if (state.isGone) throw new Error('the file is gone');
      },
      async commit(commit) {
        state.commits++;
        state.most = Math.max(state.most, ++state.running);
        try {
          for (let i = 0; i < 5; i++) await nextTurn();
          if (state.failures-- > 0) throw new Error('MDB_MAP_FULL');
          const result = await commit();
          state.transactions++;
          for (let i = 0; i < 5; i++) await nextTurn();
          return result;
        } finally {
          state.running--;
        }
      },
    },
  });
  const put = (key: string, value = 1) =>
    commits.run(() => ({ result: key, writes: [{ database, key, value }] }));
  const remove = (key: string) =>
    commits.run(() => ({ result: key, writes: [{ database, key }] }), { makesRoom: true });
  return { commits, state, put, remove };
}
const keys = () => [...database.getKeys()];
const outcomes = async (operations: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(operations)).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).constructor,
  );

it('operations that arrive before a transaction share it, and those that arrive during a flush share the next', async () => {
  const { state, put, commits } = committing();
  const first = [put('a')];
  while (state.commits === 0) await nextTurn();
  first.push(put('b'));
  while (state.transactions === 0) await nextTurn();
  const second = [put('c'), put('d'), put('e')];
  expect(await outcomes([...first, ...second])).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect([state.commits, state.most]).toEqual([2, 1]);
  await commits.idle();
  expect(keys()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('an operation that throws fails alone', async () => {
  const { commits, put } = committing();
  const failing = commits.run(() => {
    throw new RangeError('too many');
  });
  expect(await outcomes([put('a'), failing, put('b')])).toEqual(['a', RangeError, 'b']);
  expect(keys()).toEqual(['a', 'b']);
});

describe('a commit that fails', () => {
  it('fails all its operations without the reserve, and the next ones succeed', async () => {
    const { state, put } = committing({ failures: 1, hasReserve: false });
    expect(await outcomes([put('a'), put('b')])).toEqual([StoreUnavailable, StoreUnavailable]);
    expect(await put('c')).toBe('c');
    expect([keys(), state.freed]).toEqual([['c'], 0]);
  });

  it('is tried again for deletions alone, with the reserved space, before the next group', async () => {
    await database.put('old', 1);
    const { state, put, remove } = committing({ failures: 1 });
    const first = outcomes([put('a'), remove('old')]);
    while (state.commits < 2) await nextTurn();
    const second = put('b');
    expect([...(await first), await second]).toEqual([StoreUnavailable, 'old', 'b']);
    // The second try and the next group must not overlap: one would see the other's uncommitted state.
    expect([state.commits, state.most]).toEqual([3, 1]);
    expect(keys()).toEqual(['b']);
  });

  it('fails deletions too if the reserve is used up', async () => {
    await database.put('old', 1);
    const { state, remove } = committing({ failures: 2 });
    expect(await outcomes([remove('old')])).toEqual([StoreUnavailable]);
    expect([state.commits, state.freed, keys()]).toEqual([2, 2, ['old']]);
  });
});

it('on a full disk only deletions run, one group after the other', async () => {
  for (const key of ['old', 'older']) await database.put(key, 1);
  const { state, put, remove } = committing({ isFull: true });
  const first = outcomes([put('a'), remove('old')]);
  while (state.commits === 0) await nextTurn();
  expect(await outcomes([remove('older'), put('b')])).toEqual(['older', StoreUnavailable]);
  expect(await first).toEqual([StoreUnavailable, 'old']);
  expect([state.commits, state.most, keys()]).toEqual([2, 1, []]);
});

it('operations on a read-only file system fail, and succeed as soon as it can be written', async () => {
  for (const hasReserve of [true, false]) {
    await database.put('old', 1);
    const { state, put, remove, commits } = committing({ isReadOnly: true, hasReserve, failures: 1 });
    expect(await outcomes([put('a'), remove('old')])).toEqual([StoreUnavailable, StoreUnavailable]);
    await commits.idle();
    state.isReadOnly = false;
    state.failures = 0;
    expect(await outcomes([put('a'), remove('old')])).toEqual(['a', 'old']);
  }
});

it('a commit to a file that was removed is not acknowledged', async () => {
  const { state, put } = committing();
  const during = put('a');
  while (state.commits === 0) await nextTurn();
  state.isGone = true;
  expect(await outcomes([during, put('b')])).toEqual([StoreUnavailable, StoreUnavailable]);
  expect(state.commits).toBe(1);
});
