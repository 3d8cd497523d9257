import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_VALID_IN_TREE, StoreUnavailable, TooManyTokens } from '../../index.ts';
import { openRulesStorage } from './index.ts';

it('rejects a token above the limit of its tree without a transaction', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-tokens-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { tokens, close } = openRulesStorage(folder);
  let made = 0;
  const create = (by: string) =>
    tokens.create(
      {
        hash: String(++made).padStart(64, '0'),
        ...{ label: 'x', accounts: ['a'], permissions: [], expires_on: null },
      },
      { by, from: 'local' },
    );
  const root = await create('cli:tester');
  await Promise.all(Array.from({ length: MAX_VALID_IN_TREE - 1 }, () => create(root.id)));
  // No transaction succeeds if the file is not in its folder.
  renameSync(join(folder, 'rules', 'data.mdb'), join(folder, 'rules', 'moved.mdb'));
  await expect(create('cli:tester')).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(create(root.id)).rejects.toBeInstanceOf(TooManyTokens);
  await close();
});
