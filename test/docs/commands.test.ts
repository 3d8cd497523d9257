import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programFor } from '../../src/cli/index.ts';
import { root, run } from '../server/support/run.ts';
import { connect } from '../support/anvil.ts';
import { startDemoChain } from '../support/demoChain.ts';
import { PROGRAM } from '../support/program.ts';
import type { SharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { PAGES, read, type ShellBlock, shellBlocksOf } from './support/commands.ts';

const blocks = PAGES.flatMap((page) => shellBlocksOf(page));
const nameOf = ({ page, line }: ShellBlock): string => `${page}:${line}`;
/** Examples in the pages use block numbers up to this one. */
const SHOWN_BLOCKS = 300;

describe('a shell block in the documentation', () => {
  it('has a comment before it that specifies whether it is run, by which test, or why not', () => {
    expect(blocks.length).toBeGreaterThan(20);
    expect(blocks.filter(({ mark }) => mark === undefined).map(nameOf)).toEqual([]);
  });

  it('marked "run by" names an existing test', () => {
    const files = blocks.flatMap((block) => (block.mark?.kind === 'run by' ? [block.mark.file] : []));
    expect(files.filter((file) => !existsSync(root + file))).toEqual([]);
  });

  it('is found with any fence, and has no mark if the comment is missing or malformed', () => {
    const page =
      '```\nnpm ci\n```\n\n<!-- commands: run -->\n\n```console\n$ a \\\n  b\nanswer\n$ c\n```\n\n```\ntext\n```\n';
    expect(shellBlocksOf('a.md', page)).toMatchObject([
      { line: 1, mark: undefined, script: 'npm ci' },
      { line: 7, mark: { kind: 'run', exitCode: 0 }, script: 'a \\\n  b\nc' },
    ]);
    const bad = ['not run', 'not run: no', 'runs', 'run by nobody'];
    for (const mark of bad)
      expect(
        shellBlocksOf('a.md', `<!-- commands: ${mark} -->\n\`\`\`sh\na\n\`\`\`\n`)[0]?.mark,
      ).toBeUndefined();
  });
});

it('every floodgate command and npm script named in a page exists', async () => {
  const program = await programFor();
  const scripts = Object.keys(JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts);
  const unknown: string[] = [];
  for (const page of PAGES) {
    for (const [, words = ''] of read(page).matchAll(/(?:`|\$ |\n)floodgate ((?:[a-z][a-z-]* ?){1,3})/g)) {
      let command = program;
      for (const word of words.trim().split(' ')) {
        const inner = command.commands.find((each) => each.name() === word);
        if (inner === undefined && command.commands.length > 0) unknown.push(`${page}: floodgate ${words}`);
        if (inner === undefined) break;
        command = inner;
      }
    }
    for (const [, script = ''] of read(page).matchAll(/npm run ([\w:-]+)/g))
      if (!scripts.includes(script)) unknown.push(`${page}: npm run ${script}`);
  }
  expect(unknown).toEqual([]);
});

describe('the shell commands of', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  let folder: string;
  beforeAll(async () => {
    chain = await startDemoChain();
    await connect(chain.anvil.url).call('anvil_mine', `0x${SHOWN_BLOCKS.toString(16)}`);
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
    folder = mkdtempSync(join(tmpdir(), 'floodgate-docs-'));
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    const script = (name: string, text: string): void => {
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(programs, name), 0o755);
    };
    script('floodgate', `exec '${process.execPath}' '${PROGRAM}' "$@"`);
    // In these tests, curl fails on an HTTP error status.
    script('curl', `PATH="\${PATH#*:}" exec curl --fail-with-body "$@"`);
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Replaces the URLs, paths and tokens of a page by those of this server. */
  const here = (script: string): string =>
    script
      .replaceAll('http://127.0.0.1:8420', floodgate.url)
      .replaceAll('http://127.0.0.1:8545', chain.anvil.url)
      .replaceAll(/(?<=FLOODGATE_TOKEN=)fg_…/g, floodgate.token)
      .replaceAll('/var/lib/floodgate-new', join(folder, 'restored'))
      .replaceAll('/var/lib/floodgate', floodgate.dataDir)
      .replaceAll('/backups/', join(folder, 'backups-'));

  const pages = [...new Set(blocks.filter(({ mark }) => mark?.kind === 'run').map(({ page }) => page))];
  it.each(pages)('%s run with the documented exit codes', async (page) => {
    const cwd = mkdtempSync(join(folder, 'page-'));
    const env = {
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
      FLOODGATE_URL: floodgate.url,
      FLOODGATE_TOKEN: floodgate.token,
      // Commands that write an index need exclusive access, so they get another folder than the server.
      FLOODGATE_DATA_DIR: page.includes('index-and-export') ? join(cwd, 'data') : floodgate.dataDir,
      BASE: `${floodgate.url}/client/v4`,
      API_TOKEN: floodgate.token,
      ACCOUNT: '0123abcd',
    };
    for (const block of blocks) {
      if (block.page !== page || block.mark?.kind !== 'run') continue;
      const { code, stdout, stderr } = await run('sh', ['-e', '-c', here(block.script)], { cwd, env });
      expect({
        at: nameOf(block),
        code,
        stderr: code === block.mark.exitCode ? '' : stderr + stdout,
      }).toEqual({
        at: nameOf(block),
        code: block.mark.exitCode,
        stderr: '',
      });
      expect(stdout, nameOf(block)).not.toMatch(/"error":\{|"success":false|"status":"0"/);
    }
  });
});
