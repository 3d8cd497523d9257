import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root, run } from '../server/support/run.ts';
import { isCi } from '../support/search.ts';
import { read } from './support/commands.ts';

const page = read('CONTRIBUTING.md').split('## Your first change')[1]?.split('\n## ')[0] ?? '';
const RELAY_TEST = 'test/gateway/relay.test.ts';
const METHODS_TEST = 'test/gateway/methods.test.ts';
const OPENRPC_TEST = 'test/gateway/openRpc.test.ts';
const ROWS = 'src/ethereum/gateway/methods/rows/relayedRows.ts';
const EXAMPLES = 'src/ethereum/gateway/methods/openRpc/examples.json';

/** Takes a minute of processor time, so it runs in CI only. */
describe.skipIf(!isCi)(`the first change in CONTRIBUTING.md${isCi ? '' : ' (runs in CI only)'}`, () => {
  const copy = mkdtempSync(join(tmpdir(), 'floodgate-first-change-'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const edit = (file: string, change: (text: string) => string): void => {
    const before = readFileSync(join(copy, file), 'utf8');
    const after = change(before);
    expect(after, file).not.toBe(before);
    writeFileSync(join(copy, file), after);
  };
  const vitest = (...files: string[]) =>
    run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], { cwd: copy });
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
    edit(ROWS, (text) =>
      text.replace(/( {2}\{\n {4}name: 'eth_gasPrice',[\s\S]*?\n {2}\},\n)/, `$1${row}\n`),
    );
    expect((await vitest(RELAY_TEST)).code).toBe(1);
    const parameters = named(/Add `(eth_hashrate: \[\],)` and run the test again/);
    edit(RELAY_TEST, (text) => text.replace(/( +)eth_gasPrice: \[\],\n/, `$&$1${parameters}\n`));
    const failed = await vitest(RELAY_TEST, METHODS_TEST, OPENRPC_TEST);
    expect(failed.stdout).toMatch(/FAIL.*methods\.test/);
    expect(failed.stdout).toMatch(/FAIL.*openRpc\.test/);
    expect(failed.stdout).not.toMatch(/FAIL.*relay\.test/);

    const [methods, oneMore] = [named(/expects (\d+) methods/), named(/Change it to\s+(\d+)/)];
    edit(METHODS_TEST, (text) => text.replaceAll(methods, oneMore));
    const example = named(/Add `("eth_hashrate": .*?,)`/);
    edit(EXAMPLES, (text) => text.replace(/ {2}"eth_gasPrice": \{[\s\S]*?\n {2}\},\n/, `$&  ${example}\n`));
    const passed = await vitest(RELAY_TEST, METHODS_TEST, OPENRPC_TEST);
    expect(passed.code, passed.stdout + passed.stderr).toBe(0);

    const docs = await run(process.execPath, ['scripts/docs.js'], { cwd: copy });
    expect(docs.stdout).toContain(named(/updates the table in `(docs\/[\w/.]+)`/));
  });
});
