import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_VALID_IN_TREE, StoreUnavailable, TooManyTokens } from '../../index.ts';
import { openRulesStorage } from './index.ts';

/** Opens the rules of a folder. `create` creates a token with a unique hash. */
function openTokens(folder: string) {
  const { tokens, close } = openRulesStorage(folder);
  const create = (by: string) =>
    tokens.create(
      {
        hash: randomBytes(32).toString('hex'),
        label: 'x',
        accounts: ['a'],
        permissions: [],
        expires_on: null,
      },
      { by, from: 'local' },
    );
  return { tokens, close, create };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-tokens-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('rejects a token above the limit of its tree without a transaction', async () => {
  const folder = newFolder();
  const { create, close } = openTokens(folder);
  const root = await create('cli:tester');
  await Promise.all(Array.from({ length: MAX_VALID_IN_TREE - 1 }, () => create(root.id)));
  // No transaction succeeds if the file is not in its folder.
  renameSync(join(folder, 'rules', 'data.mdb'), join(folder, 'rules', 'moved.mdb'));
  await expect(create('cli:tester')).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(create(root.id)).rejects.toBeInstanceOf(TooManyTokens);
  await close();
});

it('accepts a token after a rejected one as soon as another process has revoked one', async () => {
  const folder = newFolder();
  const [server, command] = [openTokens(folder), openTokens(folder)];
  const root = await server.create('cli:tester');
  const others = await Promise.all(
    Array.from({ length: MAX_VALID_IN_TREE - 1 }, () => server.create(root.id)),
  );
  await expect(server.create(root.id)).rejects.toBeInstanceOf(TooManyTokens);
  for (const { id } of others.slice(0, 3)) {
    await command.tokens.revoke(id, { by: 'cli:tester', from: 'local' });
    await server.create(root.id);
    await expect(server.create(root.id)).rejects.toBeInstanceOf(TooManyTokens);
  }
  await server.close();
  await command.close();
});
