import { spawnSync } from 'node:child_process';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { run } from '../server/support/run.ts';
import { startDemoChain } from '../support/demoChain.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { matchesShown, readPage, rowsAfter, snippetsOf } from './support/pages.ts';

const PAGE = readPage('reference/trace-filter.md');
const SHOWN_URL = 'http://127.0.0.1:8420';
const hasCurl = spawnSync('curl', ['--version']).status === 0;

let chain: SharedChain;
let floodgate: Floodgate;
beforeAll(async () => {
  chain = await startDemoChain();
  floodgate = await startFloodgate({ upstream: chain.anvil.url });
});
afterAll(async () => {
  await floodgate?.stop();
  await chain?.anvil.stop();
});

const asked = (filter: unknown) => call(floodgate.gatewayUrl, 'trace_filter', filter);

describe('docs/reference/trace-filter.md', () => {
  it('shows commands with their actual responses', async (context) => {
    if (!hasCurl) context.skip('curl is not installed');
    const snippets = snippetsOf(PAGE);
    const commands = snippets.filter(({ language }) => language === 'sh');
    expect(commands.length).toBeGreaterThan(0);
    for (const [i, { language, code }] of snippets.entries()) {
      if (language !== 'sh') continue;
      const { stdout } = await run('sh', ['-c', code.replaceAll(SHOWN_URL, floodgate.url)]);
      const shown = snippets[i + 1];
      expect(shown).toMatchObject({ language: 'json', follows: 'sh' });
      expect(matchesShown(JSON.parse(shown?.code ?? ''), JSON.parse(stdout)), stdout).toBe(true);
    }
  });

  it('states the number of traces that each filter finds', async () => {
    const rows = rowsAfter(PAGE, 'counts');
    expect(rows.length).toBeGreaterThan(8);
    for (const [filter = '', , count] of rows) {
      const { json } = await asked(JSON.parse(filter));
      expect(json.result, filter).toHaveLength(Number(count));
    }
  });

  it('states the code and message with which invalid filters are rejected', async () => {
    const rows = rowsAfter(PAGE, 'errors');
    expect(rows.length).toBeGreaterThan(8);
    for (const [filter = '', code, message = ''] of rows) {
      const { error } = (await asked(JSON.parse(filter))).json;
      expect(error.code, filter).toBe(Number(code));
      expect(matchesShown(message, error.message), `${error.message} is shown as ${message}`).toBe(true);
    }
  });

  it('shows traces of the development chain and a reward that conform to the Trace schema of rpc.discover', async () => {
    const { result: described } = (await call(floodgate.gatewayUrl, 'rpc.discover')).json;
    const isTrace = new Ajv({ strict: false }).compile(described.components.schemas.Trace);
    const shown = snippetsOf(PAGE).filter(({ language, follows }) => language === 'json' && follows !== 'sh');
    const { result: traces } = (await asked({ fromBlock: 1, toBlock: chain.head })).json;
    const types = new Set<string>();
    for (const { code } of shown) {
      const trace = JSON.parse(code);
      types.add(trace.type);
      if (trace.type === 'reward') expect(isTrace(trace)).toBe(true);
      else
        expect(traces.filter((each: unknown) => matchesShown(trace, each)).length, code).toBeGreaterThan(0);
    }
    expect([...types].sort()).toEqual(['call', 'create', 'reward', 'suicide']);
    expect(traces.every((trace: unknown) => isTrace(trace))).toBe(true);
  });

  it('lists every frame error of a chain with all kinds of traces', async () => {
    const every = await startSharedChain();
    const server = await startFloodgate({ upstream: every.anvil.url });
    try {
      const { json } = await call(server.gatewayUrl, 'trace_filter', { fromBlock: 1, toBlock: every.head });
      const errors = new Set<string>(json.result.flatMap(({ error = [] }) => error));
      expect(errors.size).toBeGreaterThan(5);
      for (const error of errors) expect(PAGE).toContain(error);
    } finally {
      await server.stop();
      await every.anvil.stop();
    }
  });
});
