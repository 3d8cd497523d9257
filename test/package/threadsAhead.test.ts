import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../server/support/run.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { runProgram } from '../support/runProgram.ts';

const BUNDLE = `${root}dist/bundle/floodgate.js`;
const folder = mkdtempSync(join(tmpdir(), 'floodgate-ahead-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Starts a guard with two threads for UDP and one for TCP; threads with the numbers `ending` exit at once. Returns the
 * numbers of all started threads.
 */
async function threadsOf(node: string, ...ending: number[]): Promise<string[]> {
  const at = mkdtempSync(join(folder, 'start-'));
  const note = join(at, 'note.cjs');
  writeFileSync(
    note,
    `const { isMainThread, threadId } = require('node:worker_threads');
    if (!isMainThread) {
      require('node:fs').writeFileSync(${JSON.stringify(join(at, 'thread-'))} + threadId, '');
      if (${JSON.stringify(ending)}.includes(threadId)) process.exit(1);
    }`,
  );
  const guard = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
  const flags = [
    '--role',
    'rules,guard',
    '--port',
    '0',
    '--data-dir',
    join(at, 'data'),
    '--dns-threads',
    '2',
  ];
  const server = await runProgram(['start', ...flags, ...guard], {
    env: cleanEnvironment(),
    command: [node, '--require', note, BUNDLE],
  });
  expect(await server.stop()).toBe(0);
  return readdirSync(at)
    .filter((name) => name.startsWith('thread-'))
    .sort();
}

const node = newerNode() ?? '';
describe.skipIf(node === '')(`the DNS threads of a guard${node ? '' : ` (${NO_NEWER_NODE})`}`, () => {
  it('are started while the server is loading', async () => {
    expect(await threadsOf(node)).toEqual(['thread-1', 'thread-2', 'thread-3']);
  });

  it('are replaced if one exits before it receives its task', async () => {
    expect(await threadsOf(node, 1)).toEqual(['thread-1', 'thread-2', 'thread-3', 'thread-4']);
  });
});
