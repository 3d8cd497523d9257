/**
 * The rules API: the list of 100 rules, and durable changes at 32 connections. Every figure is a ratio of two
 * measurements of this run: Floodgate against a bare node:http server that sends the same bytes, each in a separate
 * process, in alternation. Changes are also compared with flushed appends of the same number of bytes to a file.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/freePort.ts';
import { startFloodgate, startScript } from './support/child.ts';
import { type LoadResult, load } from './support/load.ts';
import {
  createRules,
  RULES_HEADERS as headers,
  RULES_PATH as PATH,
  RULES_TOKEN,
} from './support/madeRules.ts';

const RULES = 100;
const LIST_CONNECTIONS = 8;
const CHANGE_CONNECTIONS = 32;
const TURNS = 3;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 3000);

/** Below these limits the benchmark fails. */
const LEAST_LIST_RATIO = 0.5;
const LEAST_CHANGES_PER_SECOND = 2000;
const LEAST_APPEND_RATIO = 0.5;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-rules-'));
process.env['FLOODGATE_API_TOKEN'] = RULES_TOKEN;

async function run(): Promise<boolean> {
  const port = await freePort();
  const floodgate = await startFloodgate(port, ['--role', 'rules', '--data-dir', join(folder, 'data')]);
  const answers = join(folder, 'answers.json');
  try {
    const ids = await createRules(floodgate.url, RULES);
    const list = await answerOf(floodgate.url + PATH);
    const change = await answerOf(`${floodgate.url}${PATH}/${ids[0]}`);
    writeFileSync(answers, JSON.stringify({ list, change }));
    const bare = await startScript('rulesBareServer.js', answers);
    try {
      return await compare({ ours: floodgate.url, bare: bare.url }, ids, 2 * change.length);
    } finally {
      await bare.stop();
    }
  } finally {
    await floodgate.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(
  { ours, bare }: { readonly ours: string; readonly bare: string },
  ids: readonly string[],
  appendBytes: number,
): Promise<boolean> {
  const lists: [LoadResult[], LoadResult[]] = [[], []];
  const changes: [LoadResult[], LoadResult[]] = [[], []];
  const appends: number[] = [];
  for (const url of [ours, bare]) {
    // Warm-up, because code that has run rarely is still being compiled.
    await listLoad(url);
    await changeLoad(url, ids);
  }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, url] of [ours, bare].entries()) {
      lists[index]?.push(await listLoad(url));
      changes[index]?.push(await changeLoad(url, ids));
    }
    appends.push(appendsPerSecond(appendBytes));
  }
  const rates = (results: readonly LoadResult[]) => median(results.map((result) => result.requestsPerSecond));
  const [ourList, bareList] = [rates(lists[0]), rates(lists[1])];
  const [ourChanges, bareChanges, append] = [rates(changes[0]), rates(changes[1]), median(appends)];
  const leastChanges = Math.min(LEAST_CHANGES_PER_SECOND, LEAST_APPEND_RATIO * append);

  row('', 'requests/s', 'p50 ms', 'p99 ms', 'bytes', 'ratio', 'must');
  show(`list of ${RULES} rules`, lists[0], [ratio(ourList, bareList), `>= ${LEAST_LIST_RATIO} of bare`]);
  show('  bare node:http, same bytes', lists[1]);
  show('durable change of a rule', changes[0], [
    ratio(ourChanges, bareChanges),
    `>= ${leastChanges.toFixed(0)}/s`,
  ]);
  show('  bare node:http, same bytes', changes[1]);
  row(`  flushed appends of ${appendBytes} bytes`, append.toFixed(0), '', '', '', ratio(ourChanges, append));

  const refused = [...lists, ...changes].flat().reduce((sum, result) => sum + result.refused, 0);
  if (refused > 0) console.log(`${refused} responses were not 200, so the figures are invalid`);
  return refused === 0 && ourList / bareList >= LEAST_LIST_RATIO && ourChanges >= leastChanges;
}

function listLoad(url: string): Promise<LoadResult> {
  return load({
    url: url + PATH,
    method: 'GET',
    bodies: [Buffer.alloc(0)],
    headers,
    connections: LIST_CONNECTIONS,
    durationMs: TURN_MS,
  });
}

/** Each connection toggles its own rule, so that every request changes something. */
async function changeLoad(url: string, ids: readonly string[]): Promise<LoadResult> {
  const bodies = ['monitoring', 'enabled'].map((mode) => Buffer.from(JSON.stringify({ mode })));
  const all = await Promise.all(
    ids.slice(0, CHANGE_CONNECTIONS).map((id) =>
      load({
        url: `${url}${PATH}/${id}`,
        method: 'PATCH',
        bodies,
        headers,
        connections: 1,
        durationMs: TURN_MS,
      }),
    ),
  );
  return {
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: all.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0),
    p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...all.map(({ p99Ms }) => p99Ms)),
    bytesPerAnswer: median(all.map(({ bytesPerAnswer }) => bytesPerAnswer)),
    refused: all.reduce((sum, { refused }) => sum + refused, 0),
  };
}

/** Returns the rate of appends to one file, each flushed before the next: the limit of the disk. */
function appendsPerSecond(bytes: number): number {
  const file = openSync(join(folder, 'appends'), 'a');
  const record = Buffer.alloc(bytes, 'a');
  const started = performance.now();
  let count = 0;
  for (; performance.now() - started < TURN_MS; count++) {
    writeSync(file, record);
    fdatasyncSync(file);
  }
  closeSync(file);
  return (1000 * count) / (performance.now() - started);
}

async function answerOf(url: string): Promise<string> {
  return (await fetch(url, { headers })).text();
}

/** `judged`: the ratio to the bare server, and the required value. */
function show(name: string, results: readonly LoadResult[], judged: readonly string[] = []): void {
  const of = (value: (result: LoadResult) => number) => median(results.map(value));
  row(
    name,
    of((result) => result.requestsPerSecond).toFixed(0),
    of((result) => result.p50Ms).toFixed(2),
    of((result) => result.p99Ms).toFixed(2),
    of((result) => result.bytesPerAnswer).toFixed(0),
    ...judged,
  );
}

const ratio = (a: number, b: number): string => (a / b).toFixed(2);

const WIDTHS = [34, 12, 10, 10, 10, 8, 0];

function row(...cells: readonly string[]): void {
  console.log(cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join(''));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (!(await run())) {
  console.error('the rules API is slower than required');
  process.exitCode = 1;
}
