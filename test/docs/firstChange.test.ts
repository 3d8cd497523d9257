import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root, run } from '../server/support/run.ts';
import { read } from './support/commands.ts';

const page = read('CONTRIBUTING.md').split('## Your first change')[1]?.split('\n## ')[0] ?? '';
const RELAY_TEST = 'test/gateway/relay.test.ts';
const METHODS_TEST = 'test/gateway/methods.test.ts';
const OPENRPC_TEST = 'test/gateway/openRpc.test.ts';
const ROWS = 'src/ethereum/gateway/methods/rows/relayedRows.ts';
const EXAMPLES = 'src/ethereum/gateway/methods/openRpc/examples.json';

describe('the first change in CONTRIBUTING.md', () => {
  const copy = mkdtempSync(join(tmpdir(), 'floodgate-first-change-'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const edit = (file: string, change: (text: string) => string): void => {
    const before = readFileSync(join(copy, file), 'utf8');
    const after = change(before);
    expect(after, file).not.toBe(before);
    writeFileSync(join(copy, file), after);
  };
  /** Runs tests in the copy. Returns the names of the failed files, and the output. */
  async function vitest(...files: string[]): Promise<{ failed: string[]; output: string }> {
    const args = ['node_modules/vitest/vitest.mjs', 'run', ...files];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: copy, env: { NO_COLOR: '1' } });
    const output = stdout + stderr;
    expect(output).toMatch(/\d+ passed, \d+ failed/);
    return { failed: files.filter((file) => new RegExp(`^ *FAIL .*${file} `, 'm').test(output)), output };
  }
  const named = (pattern: RegExp): string => {
    const [, text] = pattern.exec(page) ?? [];
    expect(text, String(pattern)).toBeDefined();
    return text ?? '';
  };

  it('fails and passes the tests that the page names', async () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
    for (const file of files.filter((name) => name !== '')) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file));
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

    const row = named(/```ts\n([\s\S]*?)\n *```/).replaceAll(/^ {3}/gm, '  ');
    edit(ROWS, (text) => text.replace(/ {2}valueOfNode\('eth_gasPrice',.*\n/, `$&${row}\n`));
    const tests = [RELAY_TEST, METHODS_TEST, OPENRPC_TEST] as const;
    expect((await vitest(...tests)).failed).toEqual(tests);
    const parameters = named(/Add `(eth_hashrate: \[\],)` and run the test again/);
    edit(RELAY_TEST, (text) => text.replace(/( +)eth_gasPrice: \[\],\n/, `$&$1${parameters}\n`));
    const [methods, oneMore] = [named(/expects (\d+) methods/), named(/Change it to\s+(\d+)/)];
    edit(METHODS_TEST, (text) => text.replaceAll(methods, oneMore));
    const example = named(/Add `("eth_hashrate": .*?,)`/);
    edit(EXAMPLES, (text) => text.replace(/ {2}"eth_gasPrice": \{[\s\S]*?\n {2}\},\n/, `$&  ${example}\n`));
    const { failed, output } = await vitest(...tests);
    expect(failed, output).toEqual([]);

    const docs = await run(process.execPath, ['scripts/docs.js'], { cwd: copy });
    expect(docs.stdout).toContain(named(/updates the table in `(docs\/[\w/.]+)`/));
  });
});
