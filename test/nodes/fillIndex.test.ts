import { type ChildProcess, execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { PROGRAM } from '../support/program.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { startFloodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const HEAD = 1200;

describe('filling the index', () => {
  let anvil: Anvil;
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'floodgate-index-'));
    folders.push(made);
    return made;
  };

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: 6 });
    const blocks = await traffic.run({ steps: 60 });
    const node = connect(anvil.url);
    await node.call('anvil_mine', `0x${(HEAD - (blocks.at(-1)?.number ?? 0)).toString(16)}`);
  });
  afterAll(async () => {
    await anvil.stop();
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  test('floodgate index, killed and run again, creates the same index as one run', async () => {
    const [once_, killed] = [folder(), folder()];
    const whole = await run([
      'index',
      '--from',
      '0',
      '--upstream',
      anvil.url,
      '--data-dir',
      once_,
      '--to',
      '1100',
    ]);
    expect(whole).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Indexed 1101 blocks with \d+ traces/),
    });

    // Exports are not bound by the gateway's limits of 800 blocks and 200 traces.
    const all = await contents(once_);
    const flags = ['export', '--from', '0', '--to', '1100', '--data-dir', once_];
    const traces = all.blocks.flatMap(({ traces }) => JSON.parse(traces) as Exported[]);
    expect(linesOf((await run(flags)).stdout)).toEqual(traces);
    const address = mostFrequent(traces.flatMap(partiesOf));
    const its = linesOf((await run([...flags, '--address', address])).stdout);
    expect(its).toEqual(traces.filter((trace) => partiesOf(trace).includes(address)));
    expect(its.length).toBeGreaterThan(200);

    // A proxy of a real anvil that does not respond for blocks from 700 on, so that the kill happens there.
    const slow = await startInterceptedNode(anvil.url);
    let reached = false;
    slow.intercept = ({ body }, answer) => {
      // The detection of the trace method requests the head (block 1200), which is served.
      const number = Number(/"trace_block","params":\["(0x[0-9a-f]+)"/.exec(body)?.[1]);
      if (!(number >= 700 && number <= 1100)) return answer();
      reached = true;
      return new Promise(() => undefined);
    };
    const child = index(['--from', '0', '--to', '1100', '--upstream', slow.url, '--data-dir', killed]);
    await until('block 700 to be requested', async () => reached);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await slow.stop();
    const held = openTraceStore(join(killed, 'traces'));
    const first = await held.firstMissing(0, 1100);
    await held.close();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(1100);

    const rest = await run([
      'index',
      '--from',
      '0',
      '--to',
      '1100',
      '--upstream',
      anvil.url,
      '--data-dir',
      killed,
    ]);
    expect(rest).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Indexed \d+ blocks/) });
    expect(await contents(killed)).toEqual(all);
  });

  test('floodgate index draws its progress within the width of a terminal', async (context) => {
    const missing = noTerminal();
    if (missing !== undefined) return context.skip(missing);
    const dataDir = folder();
    const command = `${process.execPath} ${PROGRAM} index --from 0 --to 600 --upstream ${anvil.url} --data-dir ${dataDir}`;
    const columns = 90;
    const { stdout } = await promisify(execFile)(
      'script',
      ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'],
      { env: { ...process.env, SHELL: '/bin/sh' } },
    );
    expect(stdout).toContain('indexing blocks 0 to 600: 601 of 601 are missing');
    const drawn = stdout.split('\r\x1b[K').slice(1);
    expect(drawn.length).toBeGreaterThan(1);
    for (const row of drawn) {
      const [shown = ''] = row.split(/\r?\n/);
      expect(shown).toMatch(
        /^\[#*\.*\] \d+ of 601 blocks, \d+ traces, [\d.]+ blocks\/s, \d+ in parallel, \d+ (s|min \d+ s) left$/,
      );
      expect(shown.length).toBeLessThan(columns);
    }
    expect(drawn.at(-1)).toMatch(/^\[#+\] 601 of 601 blocks.*, 0 s left\r?\n/);
    expect(stdout).toMatch(/Indexed 601 blocks with \d+ traces in [\d.]+ s\./);
  });

  test('floodgate index rejects a data folder in use and a range past the head', async () => {
    const dataDir = folder();
    const past = await run([
      'index',
      '--from',
      '0',
      '--to',
      '99999',
      '--upstream',
      anvil.url,
      '--data-dir',
      dataDir,
    ]);
    expect(past).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('past the head of the chain, block 1200'),
    });
    const server = await startFloodgate({ upstream: anvil.url, dataDir });
    const refused = await run(['index', '--from', '0', '--upstream', anvil.url, '--data-dir', dataDir]);
    await server.stop();
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/in use by another Floodgate/),
    });
  });

  test('floodgate index retries with lower concurrency if a node returns 429', async () => {
    const flaky = await startInterceptedNode(anvil.url);
    let count = 0;
    flaky.intercept = (_, answer, response) => {
      if (++count % 50 !== 0) return answer();
      response.writeHead(429).end();
      return undefined;
    };
    const dataDir = folder();
    const done = await run(['index', '--from', '900', '--upstream', flaky.url, '--data-dir', dataDir]);
    await flaky.stop();
    expect(done).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/HTTP status 429; trying again in/),
    });
  });

  test('the server fills the gap from index.from while it serves requests, and continues after a kill', async () => {
    const dataDir = folder();
    const slow = await startInterceptedNode(anvil.url);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let held = 0;
    // A proxy of a real anvil that delays the first blocks of the gap.
    slow.intercept = async ({ body }, answer) => {
      const number = Number(/"trace_block","params":\["(0x[0-9a-f]+)"/.exec(body)?.[1]);
      if (number >= 5 && number < 25) {
        held++;
        await released;
      }
      return answer();
    };
    const options = { upstream: slow.url, dataDir, args: ['--index-from', '5'] };
    const first = await startFloodgateProcess(options);
    await first.kill();
    const second = await startFloodgate(options);
    await until('the gap to be filled', () => held > 0);
    // Client requests do not wait for the gap to be filled.
    const { json } = await call(second.gatewayUrl, 'trace_filter', {
      fromBlock: '0x19',
      toBlock: '0x30',
      count: 200,
    });
    expect(json.result.length).toBeGreaterThan(0);
    release();
    await until('the gap to be closed', async () => {
      const metrics = await (await fetch(`${second.url}/metrics`)).text();
      return /floodgate_index_first_missing_block\{network="mainnet"\} -1/.test(metrics);
    });
    expect(second.output()).toContain('all blocks from index.from are indexed');
    // A log line must not contain a JSON member twice: parsers drop one or fail.
    for (const line of second.output().split('\n')) expect(line.split('"network":').length).toBeLessThan(3);
    await second.stop();
    await slow.stop();
    const store = openTraceStore(join(dataDir, 'traces'));
    expect(await store.firstMissing(5, HEAD)).toBeUndefined();
    await store.close();
  });
});

/** Returns the reason why no terminal can be created, undefined if one can. */
function noTerminal(): string | undefined {
  const { status, stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.includes('util-linux')
    ? undefined
    : "util-linux's script, which creates a terminal, is not installed";
}

function index(args: readonly string[]): ChildProcess {
  const child = spawnGuarded(process.execPath, [PROGRAM, 'index', ...args]);
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  return child;
}

interface Exported {
  readonly type: string;
  readonly action: Readonly<Record<string, string>>;
  readonly result: Readonly<Record<string, string>> | null;
}

const linesOf = (text: string): Exported[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Returns the sender and the receiver of a trace, as defined in docs/reference/trace-filter.md. */
function partiesOf({ type, action, result }: Exported): (string | undefined)[] {
  if (type === 'suicide') return [action['address'], action['refundAddress']];
  return [action['from'], type === 'create' ? result?.['address'] : action['to']];
}

function mostFrequent(texts: readonly (string | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

async function contents(dataDir: string) {
  const store = openTraceStore(join(dataDir, 'traces'));
  const blocks = [];
  for (let number = 0; number <= 1100; number++)
    blocks.push({ block: await store.block(number), traces: String(await store.blockTraces(number, 1e9)) });
  const all = { chain: await store.chain(), head: await store.head(), blocks };
  await store.close();
  return all;
}
