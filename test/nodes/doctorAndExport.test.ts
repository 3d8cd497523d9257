import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { run as runFile } from '../server/support/run.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { gethBinary, NO_GETH, startGeth } from '../support/geth.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

interface Served {
  readonly action: Readonly<Record<string, string>>;
}

describe('floodgate doctor and floodgate export', () => {
  let anvil: Anvil;
  let server: Floodgate;
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-export-'));
  let head = 0;

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: 8 });
    head = (await traffic.run({ steps: 30 })).at(-1)?.number ?? 0;
    server = await startFloodgate({ upstream: anvil.url, dataDir: folder });
  });
  afterAll(async () => {
    await Promise.all([server.stop(), anvil.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const exported = (...args: string[]) => run(['export', '--data-dir', folder, ...args]);

  test('doctor reports the client and trace methods of anvil without the secrets in its URL', async () => {
    const url = `${anvil.url.replace('http://', 'http://user:hidden@')}/?key=hidden`;
    const { status, stdout, stderr } = await run(['doctor', '--upstream', url]);
    expect(stdout).toMatch(/can be indexed from\n {2}Client: anvil\//);
    expect(stdout).toMatch(/Traces: trace_block: works\n {2}Traces: callTracer: works/);
    expect(stdout).toMatch(/flatCallTracer: unexpected result/);
    expect(stdout).toMatch(/Rules: not a listed network, .*gas of root frames from tracers is not exact/);
    expect(stdout).toContain('Reach: back to block 1');
    expect(stdout + stderr).not.toMatch(/hidden/);
    expect(status).toBe(0);
  });

  test.each([
    { chainId: 137, usable: true, line: 'A state-sync transaction has frames if a node traces it' },
    { chainId: 324, usable: false, line: 'zkSync Era cannot be indexed' },
  ])(
    'doctor names the rules of chain $chainId before anything is indexed',
    async ({ chainId, usable, line }) => {
      const other = await startAnvil({ extraArgs: ['--chain-id', String(chainId)] });
      const { status, stdout } = await run(['doctor', '--upstream', other.url]);
      await other.stop();
      expect(stdout).toContain(`Rules: ${line}`);
      expect(status).toBe(usable ? 0 : 1);
    },
  );

  test('doctor reports an unreachable node and exits with 1', async () => {
    const { status, stdout } = await run(['doctor', '--upstream', 'http://127.0.0.1:1']);
    expect(status).toBe(1);
    expect(stdout).toMatch(/cannot be indexed from\n {2}Not usable: .* cannot be reached/);
  });

  test('doctor finds the oldest block of a pruned node and quotes its error for older blocks', async () => {
    const oldest = 13;
    // A proxy of a real anvil that rejects older blocks with the error of a node without their state.
    const pruned = await startInterceptedNode(anvil.url);
    pruned.intercept = async ({ body }, answer) => {
      const asked = [JSON.parse(body)].flat() as { id: number; method: string; params: unknown[] }[];
      const text = await answer();
      const answers = [JSON.parse(text)].flat() as { id: number }[];
      const reported = answers.map((one) => {
        const { method, params } = asked.find(({ id }) => id === one.id) ?? { method: '', params: [] };
        if (method !== 'trace_block' || Number(params[0]) >= oldest) return one;
        const message = 'missing trie node 1f2e (path ) state 0xab12 is not available';
        return { jsonrpc: '2.0', id: one.id, error: { code: -32_000, message } };
      });
      return JSON.stringify(text.startsWith('[') ? reported : reported[0]);
    };
    const { status, stdout } = await run(['doctor', '--upstream', pruned.url]);
    await pruned.stop();
    expect(stdout).toContain(`Reach: back to block ${oldest}, ${head - oldest + 1} blocks`);
    expect(stdout).toContain(`Block ${oldest - 1}: trace_block: missing trie node`);
    expect(status).toBe(0);
  });

  test('doctor reports nodes of one network on different chains', async () => {
    const other = await startAnvil();
    const { status, stdout } = await run(['doctor', '--upstream', anvil.url, '--upstream', other.url]);
    await other.stop();
    expect(status).toBe(1);
    const chains = [...stdout.matchAll(/genesis (0x[0-9a-f]{64})$/gm)].map(([, hash]) => hash);
    expect(new Set(chains).size).toBe(2);
    const [first, second] = chains;
    expect(stdout).toMatch(
      new RegExp(`The nodes of mainnet are on different chains.*genesis ${first}; .*genesis ${second}\\.`),
    );
  });

  test('doctor reports geth as a client without trace_block', async (context) => {
    const binary = gethBinary();
    if (binary === undefined) return context.skip(NO_GETH);
    const geth = await startGeth(binary);
    const { status, stdout } = await run(['doctor', '--upstream', geth.url]);
    await geth.stop();
    expect({ status, stdout }).toMatchObject({
      status: expect.any(Number),
      stdout: expect.stringMatching(/Client: Geth\//),
    });
    expect(stdout).toContain('trace_block: not offered');
  });

  test('export writes the traces of the running server to stdout or a file', async () => {
    const all: Served[] = [];
    for (let number = 0; number <= head; number++)
      all.push(...(await call(server.gatewayUrl, 'trace_block', number)).json.result);
    const { status, stdout } = await exported('--from', '0', '--to', String(head));
    expect(status).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(all);

    const { from } = all[0]?.action ?? {};
    const file = join(folder, 'out.ndjson');
    await exported('--from', '0', '--to', String(head), '--address', String(from), '--out', file);
    const found = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { json } = await call(server.gatewayUrl, 'trace_filter', {
      fromBlock: 0,
      toBlock: head,
      fromAddress: [from],
      toAddress: [from],
      mode: 'union',
      count: 200,
    });
    expect(found.slice(0, 200)).toEqual(json.result);
  });

  test('export writes CSV with a header and one row per trace', async () => {
    const { stdout } = await exported('--from', '0', '--to', String(head), '--format', 'csv');
    const rows = stdout.trim().split('\r\n');
    expect(rows[0]).toMatch(/^blockNumber,blockHash,transactionPosition/);
    const { stdout: lines } = await exported('--from', '0', '--to', String(head));
    expect(rows.length - 1).toBe(lines.trim().split('\n').length);
  });

  describe('export as Parquet', () => {
    const file = join(folder, 'out.parquet');
    let traces: Record<string, unknown>[];
    beforeAll(async () => {
      const range = ['--from', '0', '--to', String(head)];
      expect(await exported(...range, '--format', 'parquet', '--out', file)).toMatchObject({ status: 0 });
      const { stdout } = await exported(...range);
      traces = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    });

    test('contains the same values as JSON', async () => {
      const bytes = readFileSync(file);
      const rows = await parquetReadObjects({ file: bytes.buffer.slice(0, bytes.length) });
      expect(rows.length).toBe(traces.length);
      expect(traces.length).toBeGreaterThan(100);
      for (const [i, { action, result, ...trace }] of traces.entries()) {
        const { from, to, value, gas, input } = action as Record<string, string>;
        if (trace['type'] !== 'call') continue;
        const { gasUsed, output } = (result ?? {}) as Record<string, string>;
        expect(rows[i]).toEqual({
          ...trace,
          kind: expect.any(String),
          blockNumber: BigInt(trace['blockNumber'] as number),
          from,
          to,
          input,
          output: output ?? null,
          error: trace['error'] ?? null,
          value: BigInt(value ?? '').toString(),
          gas: BigInt(gas ?? ''),
          gasUsed: gasUsed === undefined ? null : BigInt(gasUsed),
        });
      }
    });

    test('is readable by DuckDB', async (context) => {
      const find = "import importlib.util as u, sys; sys.exit(u.find_spec('duckdb') is None)";
      if ((await runFile('sh', ['-c', 'python3 -c "$0"', find])).code !== 0)
        context.skip('DuckDB is not installed; run `pip install duckdb`');
      const query =
        'select count(*), sum("value"::decimal(38, 0))::varchar, max(len("traceAddress")), max("blockNumber"), sum("gasUsed")::varchar ' +
        'from read_parquet(?)';
      const script = `import duckdb, json, sys; print(json.dumps(duckdb.execute(sys.argv[1], [sys.argv[2]]).fetchone()))`;
      const { stdout, stderr } = await runFile('python3', ['-c', script, query, file]);
      expect(stderr).toBe('');
      const sum = (values: readonly unknown[]): string =>
        values
          .reduce((all: bigint, value) => all + BigInt((value as string | undefined) ?? 0), 0n)
          .toString();
      const actions = traces.map(({ action }) => action as Record<string, string>);
      expect(JSON.parse(stdout)).toEqual([
        traces.length,
        sum(actions.map(({ value, balance }) => value ?? balance)),
        Math.max(...traces.map(({ traceAddress }) => (traceAddress as number[]).length)),
        head,
        sum(traces.map(({ result }) => (result as Record<string, string> | null)?.['gasUsed'])),
      ]);
    });

    test('is summed by the query of docs/guides/index-and-export.md without values that were not transferred', async (context) => {
      const find = "import importlib.util as u, sys; sys.exit(u.find_spec('duckdb') is None)";
      if ((await runFile('sh', ['-c', 'python3 -c "$0"', find])).code !== 0)
        context.skip('DuckDB is not installed; run `pip install duckdb`');
      const docs = readFileSync(new URL('../../docs/guides/index-and-export.md', import.meta.url), 'utf8');
      const [, query = ''] = /<<'SQL'\n([\s\S]*?)\nSQL/.exec(docs) ?? [];
      const script = `import duckdb, json, sys; print(json.dumps(duckdb.execute(sys.argv[1]).fetchall(), default=str))`;
      const all = query.replace("'traces.parquet'", `'${file}'`).replace(' LIMIT 10', '');
      const { stdout, stderr } = await runFile('python3', ['-c', script, all]);
      expect(stderr).toBe('');
      const sums = new Map<string, bigint>();
      let failedDepth = Number.POSITIVE_INFINITY;
      for (const { type, action, error, result, traceAddress } of traces) {
        const { callType, to, refundAddress, author, value, balance } = action as Record<string, string>;
        const depth = (traceAddress as number[]).length;
        if (depth <= failedDepth) failedDepth = error === undefined ? Number.POSITIVE_INFINITY : depth;
        if (failedDepth !== Number.POSITIVE_INFINITY) continue;
        if (callType === 'delegatecall' || callType === 'callcode') continue;
        const created = type === 'create' ? (result as Record<string, string>)['address'] : undefined;
        const recipient = to ?? refundAddress ?? author ?? created ?? '';
        sums.set(recipient, (sums.get(recipient) ?? 0n) + BigInt(value ?? balance ?? 0));
      }
      expect(traces.some(({ action }) => (action as Record<string, string>)['callType'] === 'callcode')).toBe(
        true,
      );
      expect(new Map(JSON.parse(stdout))).toEqual(new Map([...sums].map(([to, wei]) => [to, String(wei)])));
    });
  });

  test('export does not write to the index of the running server', async () => {
    const file = join(folder, 'traces', 'data.mdb');
    const state = () => ({
      hash: createHash('sha256').update(readFileSync(file)).digest('hex'),
      modified: statSync(file).mtimeMs,
      files: readdirSync(join(folder, 'traces'), { recursive: true }).sort(),
    });
    const before = state();
    const { status } = await exported('--from', '0', '--to', String(head));
    expect(status).toBe(0);
    expect(state()).toEqual(before);
  });

  test('index and export support networks other than mainnet', async () => {
    const dataDir = join(folder, 'networks');
    mkdirSync(dataDir);
    const config = { networks: { side: { upstream: [anvil.url] }, other: { upstream: [anvil.url] } } };
    const file = join(dataDir, 'floodgate.yaml');
    writeFileSync(file, JSON.stringify(config));
    const flags = ['--config', file, '--data-dir', dataDir, '--network', 'side', '--from', '0'];
    expect(await run(['index', ...flags, '--to', '9'])).toMatchObject({ status: 0 });
    const alone = await run(['export', ...flags, '--to', '9']);
    expect(alone).toMatchObject({ status: 0, stderr: '' });

    const side = await startFloodgate({ config, dataDir });
    try {
      const beside = await run(['export', ...flags, '--to', String(head)]);
      expect(beside).toMatchObject({ status: 0, stderr: '' });
      expect(beside.stdout.startsWith(alone.stdout)).toBe(true);
      const { stdout } = await exported('--from', '0', '--to', String(head));
      expect(beside.stdout).toBe(stdout);
    } finally {
      await side.stop();
    }
    const [unknown, unnamed, misspelt] = await Promise.all([
      run(['export', ...flags, '--to', '9', '--network', 'nowhere']),
      run(['index', ...flags, '--network', 'nowhere']),
      run(['index', ...flags, '--network', '../traces']),
    ]);
    expect(unknown).toMatchObject({ status: 1, stderr: expect.stringMatching(/no index of nowhere in /) });
    expect(unnamed).toMatchObject({
      status: 64,
      stderr: expect.stringMatching(/configured networks: side, other/),
    });
    expect(misspelt).toMatchObject({
      status: 64,
      stderr: expect.stringMatching(/1 to 32 characters of a-z/),
    });
  });

  test('export lists missing blocks and writes nothing', async () => {
    const { status, stdout, stderr } = await exported('--from', '2', '--to', String(head + 9));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`blocks are missing in the index: ${head + 1} to ${head + 9}`);
  });
});
