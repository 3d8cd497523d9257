import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run } from '../server/support/run.ts';
import { connect } from '../support/anvil.ts';
import { startDemoChain } from '../support/demoChain.ts';
import type { SharedChain } from '../support/sharedChain.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { readPage, type Snippet, snippetsOf } from './support/pages.ts';

const SHOWN_URL = 'http://127.0.0.1:8420';
const LIVE = 'Live';
/** The address that the live recipe subscribes to. */
const FOLLOWED = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';
/** Depth at which the development chain treats blocks as final. */
const FINAL_BLOCKS = 70;
const END = '\f';

/** Runs files one after the other, and prints a separator after the output of each. */
const RUN_JS = `globalThis.WebSocket ??= (await import('ws')).WebSocket;
for (const file of process.argv.slice(2)) {
  await import(file);
  console.log(${JSON.stringify(END)});
}
process.exit(0);`;
const RUN_PYTHON = `import sys
for file in sys.argv[1:]:
    exec(compile(open(file).read(), file, "exec"), {})
    print("\\f", flush=True)`;

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const FIND_WEB3 = "import importlib.util as u, sys; sys.exit(u.find_spec('web3') is None)";
const hasWeb3 = spawnSync('python3', ['-c', FIND_WEB3]).status === 0;
const NO_WEB3 = 'web3.py is not installed: pip install web3';

const snippets = snippetsOf(readPage('guides/recipes.md'));
const headings = [...new Set(snippets.map(({ heading }) => heading))];
const isIn = (language: string, isLive: boolean) => (snippet: Snippet) =>
  snippet.language === language && (snippet.heading === LIVE) === isLive;

describe('docs/guides/recipes.md', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  let folder: string;
  /** Hashes and numbers printed by each program of a recipe, by heading. */
  const shown = new Map<string, string[][]>();

  beforeAll(async () => {
    chain = await startDemoChain();
    await connect(chain.anvil.url).call('anvil_mine', `0x${FINAL_BLOCKS.toString(16)}`);
    floodgate = await startFloodgate({
      upstream: chain.anvil.url,
      args: ['--index-poll-interval-ms', '100'],
    });
    folder = mkdtempSync(join(tmpdir(), 'floodgate-recipes-'));
    const modules = join(folder, 'node_modules');
    mkdirSync(modules);
    for (const name of ['viem', 'ethers', 'ws'])
      symlinkSync(`${root}node_modules/${name}`, join(modules, name));
    symlinkSync(root, join(modules, 'floodgate'));
    writeFileSync(join(folder, 'run.mjs'), RUN_JS);
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Writes the programs of the page with the URL of this server. Returns their files. */
  const written = (programs: readonly Snippet[], ending: string): string[] =>
    programs.map(({ code }, i) => {
      const file = join(folder, `${ending}-${i}-${programs.length}.${ending}`);
      writeFileSync(file, code.replaceAll(SHOWN_URL, floodgate.url));
      return file;
    });
  const show = (heading: string, output: string): void => {
    const words = [...output.matchAll(/0x[0-9a-f]{64}|(?<![\w.])\d[\d.E-]*/g)].map(([word]) =>
      word.startsWith('0x') ? word : String(Number(word)),
    );
    shown.set(heading, [...(shown.get(heading) ?? []), words]);
  };
  const showAll = (
    programs: readonly Snippet[],
    { code, stdout, stderr }: Awaited<ReturnType<typeof run>>,
  ) => {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const outputs = stdout.split(END);
    for (const [i, { heading }] of programs.entries()) show(heading, outputs[i] ?? '');
  };

  it('contains every recipe for curl, viem, ethers and web3.py', () => {
    const [client, ...recipes] = headings.reverse();
    expect(client).toBe(LIVE);
    for (const heading of recipes)
      expect(
        snippets
          .filter((snippet) => snippet.heading === heading)
          .map(({ language, code }) => /^\/\/ (\w+)/.exec(code)?.[1] ?? language),
      ).toEqual(['sh', 'viem', 'ethers', 'python']);
  });

  it('has curl commands that find traces', async (context) => {
    if (!hasCurl) context.skip('curl is not installed');
    for (const { heading, code, language } of snippets) {
      if (language !== 'sh') continue;
      const { stdout } = await run('sh', ['-c', code.replaceAll(SHOWN_URL, floodgate.url)]);
      const { result } = JSON.parse(stdout);
      if (heading.startsWith('What')) {
        expect(BigInt(result.value.in)).toBeGreaterThan(0n);
        continue;
      }
      expect(result.missing).toEqual([]);
      expect(result.traces.length, heading).toBeGreaterThan(0);
    }
  });

  it('has viem, ethers and web3.py programs that print the same values', async (context) => {
    const js = snippets.filter(isIn('js', false));
    showAll(
      js,
      await run(process.execPath, [join(folder, 'run.mjs'), ...written(js, 'mjs')], { cwd: folder }),
    );
    const python = snippets.filter(isIn('python', false));
    if (hasWeb3) showAll(python, await run('python3', ['-c', RUN_PYTHON, ...written(python, 'py')]));
    expect(shown.size).toBe(headings.length - 1);
    for (const [heading, [first, ...others]] of shown) {
      expect(first?.length, heading).toBeGreaterThan(2);
      for (const other of others) expect(other, heading).toEqual(first);
    }
    if (!hasWeb3) context.skip(`web3.py programs skipped: ${NO_WEB3}`);
  });

  const live = [...snippets.filter(isIn('js', true)), ...snippets.filter(isIn('python', true))];
  it.for(live)('has a live program that prints a payment, in $language: $code', async (snippet, context) => {
    const { language } = snippet;
    if (language === 'python' && !hasWeb3) context.skip(NO_WEB3);
    const [file = ''] = written([snippet], language === 'js' ? 'mjs' : 'py');
    const command = language === 'js' ? [process.execPath, join(folder, 'run.mjs'), file] : ['python3', file];
    const [program = '', ...args] = command;
    const child = spawnGuarded(program, args, { cwd: folder });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const node = connect(chain.anvil.url);
    const [from] = await node.call<string[]>('eth_accounts');
    const sent: string[] = [];
    await until('the program to print a payment', async () => {
      expect(errors).toBe('');
      if (output.includes('\n')) return true;
      sent.push(await node.call('eth_sendTransaction', { from, to: FOLLOWED, value: '0x7' }));
      await node.call('evm_mine');
      return false;
    });
    child.kill('SIGKILL');
    const [, hash, value] = /^new: (0x[0-9a-f]{64}) (\d+)n?\n/.exec(output) ?? [];
    expect(sent).toContain(hash);
    expect(value).toBe('7');
  });
});
