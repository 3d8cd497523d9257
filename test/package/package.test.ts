import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askTcp, query, RCODE } from '../dns/support/dnsClient.ts';
import { root, run } from '../server/support/run.ts';
import { startDev } from '../server/support/startDev.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { HANG_MS } from '../support/hang.ts';
import { installedNode } from '../support/newerNode.ts';
import { runProgram } from '../support/runProgram.ts';
import { npm } from './support/npm.ts';

describe('the package', () => {
  let folder: string;
  let files: string[];
  let tarball: string;
  /** Folders of the local and of the global installation. */
  let project: string;
  let prefix: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-package-'));
    const [packed] = JSON.parse(await npm(root, 'pack', '--json', '--pack-destination', folder));
    files = packed.files.map(({ path }: { path: string }) => path);
    tarball = join(folder, packed.filename);
    project = join(folder, 'project');
    prefix = join(folder, 'prefix');
    for (const made of [project, prefix]) mkdirSync(made);
    writeFileSync(join(project, 'package.json'), '{ "name": "project", "type": "module" }');
    await npm(project, 'install', tarball);
    await npm(folder, 'install', '--global', '--prefix', prefix, tarball);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const LINES = [
    { name: 'this Node', node: process.execPath },
    ...[22, 24].map((major) => ({ name: `Node ${major}`, node: installedNode(major) })),
  ];

  const installed = (path: string): string => join(project, 'node_modules/floodgate', path);

  it('contains the bundles, the docs, the deploy files and the licences, but no sources, tests or build files', () => {
    expect(
      files.filter((path) => /\.test\.|(^|\/)test\/|arbitrary|tsbuildinfo|\.map$|^src\//.test(path)),
    ).toEqual([]);
    const kinds = new Set(
      files.map((path) => /^(dist\/(bundle|exports)|docs|deploy)\//.exec(path)?.[1] ?? path),
    );
    const pages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
    const others = ['bench/README.md', 'console/README.md', 'deploy', 'dist/bundle', 'dist/exports', 'docs'];
    expect([...kinds].sort()).toEqual([...pages, ...others, 'package.json'].sort());
    for (const name of ['page.js', 'page.css']) expect(files).toContain(`dist/bundle/tryIt/${name}`);
    expect(files).toContain('dist/bundle/floodgate.js');
    expect(files).toContain('dist/bundle/dnsThread.js');
  });

  it('contains each file to which its pages link', () => {
    const isContained = (path: string): boolean =>
      files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
    const missing = files
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        [...readFileSync(installed(page), 'utf8').matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
          .map(([, link = '']) => posix.join(posix.dirname(page), link))
          .filter((path) => !isContained(path))
          .map((path) => `${page}: ${path}`),
      );
    expect(missing).toEqual([]);
  });

  it('depends only on lmdb, with anvil as an optional peer, and has keywords', () => {
    const {
      keywords,
      dependencies,
      peerDependenciesMeta,
      private: isPrivate,
    } = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
    expect(Object.keys(dependencies)).toEqual(['lmdb']);
    expect(peerDependenciesMeta).toEqual({ '@foundry-rs/anvil': { optional: true } });
    expect(isPrivate).toBeUndefined();
    expect(keywords).toEqual(expect.arrayContaining(['dns', 'ddos', 'ethereum', 'json-rpc']));
    expect(existsSync(join(project, 'node_modules/@foundry-rs'))).toBe(false);
  });

  it('names every bundled package with its licence', () => {
    const notices = readFileSync(installed('dist/bundle/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundled = new Set<string>();
    const bundle = join(root, 'dist/bundle');
    for (const map of readdirSync(bundle).filter((name) => name.endsWith('.js.map'))) {
      const { sources } = JSON.parse(readFileSync(join(bundle, map), 'utf8')) as { sources: string[] };
      for (const source of sources) {
        const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
        if (name !== undefined) bundled.add(name);
      }
    }
    expect(bundled).toContain('fastify');
    expect(bundled).not.toContain('lmdb');
    for (const name of bundled) expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\S+, \\S+`, 'm'));
    expect(notices).toContain('Permission is hereby granted, free of charge');
  });

  /**
   * Compiles programs of the project with the types of browsers, and without types of packages that are not imported.
   */
  async function compile(...names: readonly string[]): Promise<void> {
    const options = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: false, types: [] };
    const compilerOptions = { ...options, exactOptionalPropertyTypes: true, lib: ['es2023', 'dom'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }));
    const { code, stdout } = await run(process.execPath, [`${root}node_modules/typescript/bin/tsc`], {
      cwd: project,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  }

  it('exports a typed client of the gateway that runs on every supported Node', async () => {
    writeFileSync(
      join(project, 'useClient.ts'),
      `import { createFloodgateClient, floodgateActions, FloodgateRpcError, type Trace } from 'floodgate/client';
       const client = createFloodgateClient({ url: 'http://127.0.0.1:9/v1/mainnet', key: 'k', WebSocket });
       const address = '0x00000000000000000000000000000000c0ffee00';
       async function balance(): Promise<bigint> {
         let sum = 0n;
         for await (const { traces } of client.addressTraces({ address, failed: false, minValue: 1n }))
           for (const trace of traces) sum += trace.type === 'suicide' ? BigInt(trace.action.balance) : BigInt(trace.action.value);
         for await (const { removed, ...trace } of client.subscribeTraces({ address })) if (!removed) seen(trace as Trace);
         return sum;
       }
       const seen = (trace: Trace): string | null => trace.transactionHash;
       // @ts-expect-error there is no such member
       const misspelt = () => client.traceFilter({ fromAdress: address });
       // @ts-expect-error an address is hex
       const wrong = () => client.addressSummary({ address: 'vitalik.eth' });
       const actions = floodgateActions({ request: async () => { throw new FloodgateRpcError({ code: -32005, message: 'no' }); } });
       const error: unknown = await actions.traceFilter().catch((thrown: unknown) => thrown);
       const failed: unknown = await client.traceFilter().catch((thrown: unknown) => thrown);
       console.log(JSON.stringify([error instanceof FloodgateRpcError && error.code, failed instanceof TypeError, typeof balance]));`,
    );
    await compile('useClient.ts');
    // Node 20 has no WebSocket.
    const script = 'globalThis.WebSocket ??= class {}; await import("./useClient.js")';
    for (const { node } of LINES) {
      if (node === undefined) continue;
      const { stdout, stderr } = await run(node, ['--input-type=module', '-e', script], { cwd: project });
      expect({ stdout, stderr }).toEqual({ stdout: '[-32005,true,"function"]\n', stderr: '' });
    }
    expect(readFileSync(installed('dist/exports/client.js'), 'utf8')).not.toMatch(/node:|node_modules/);
  });

  it('exports typed functions that convert the traces of any client', async () => {
    writeFileSync(
      join(project, 'use.ts'),
      `import { BlockMismatchError, blockTraces, type Trace, TraceFormatError } from 'floodgate/traces';
       const hash = '0x' + '1'.repeat(64);
       const block = { number: '0x0', hash, parentHash: hash, timestamp: '0x0', gasUsed: '0x0', transactions: [] };
       const traces: Trace[] = blockTraces({ block, traces: [] }, { method: 'callTracer', chainId: 1 });
       // @ts-expect-error it is no method
       const wrong = () => blockTraces({ block, traces: [] }, { method: 'tracer', chainId: 1 });
       let error: unknown;
       try { blockTraces({ block, traces: {} }, { method: 'trace_block', chainId: 1 }); } catch (thrown) { error = thrown; }
       console.log(JSON.stringify([traces.length, error instanceof TraceFormatError, BlockMismatchError.name, typeof wrong]));`,
    );
    await compile('use.ts');
    const { stdout } = await run(process.execPath, ['use.js'], { cwd: project });
    expect(JSON.parse(stdout)).toEqual([0, true, 'BlockMismatchError', 'function']);
    expect(readFileSync(installed('dist/exports/traces.js'), 'utf8')).not.toMatch(/node:|node_modules/);
  });

  it.for(LINES)(
    'starts `floodgate dev` without anvil on $name, with rules and guard, and prints how to install anvil',
    async ({ name, node }, ctx) => {
      if (node === undefined) return ctx.skip(`${name} is not installed: run .ci/install-node`);
      const path = `PATH=${dirname(node)}:${process.env['PATH']}`;
      const command = ['env', path, 'npx', '--offline', 'floodgate', 'dev'] as const;
      const dev = await startDev(join(folder, 'dev', name), command, project);
      const reported = () =>
        dev
          .log()
          .split('\n')
          .filter((line) => line.includes('anvil'));
      // The log follows the start message.
      await expect.poll(reported, { timeout: HANG_MS }).toHaveLength(1);
      expect(reported()[0]).toContain('npm install @foundry-rs/anvil');
      expect(dev.startMessage).toMatch(/Gateway +not started: .*anvil/);
      const url = /Rules API +(\S+)/.exec(dev.startMessage)?.[1] ?? '';
      expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
      const [, host = '', port] = /DNS +(\S+) port (\d+)/.exec(dev.startMessage) ?? [];
      const [answer] = await askTcp([query('www.example.test')], { host, port: Number(port) });
      expect(answer?.rcode).toBe(RCODE.NOERROR);
      // Ctrl-C in a terminal signals the whole foreground process group.
      process.kill(-dev.pid, 'SIGINT');
      await dev.ended;
      expect(dev.log()).toContain('"msg":"stopped"');
    },
  );

  it.for(LINES)('runs from a global installation, on $name', async ({ name, node }, ctx) => {
    if (node === undefined) return ctx.skip(`${name} is not installed: run .ci/install-node`);
    const program = join(prefix, 'bin/floodgate');
    const cache = join(folder, 'cache', name);
    const env = cleanEnvironment({ XDG_CACHE_HOME: cache });
    const place = ['--port', '0', '--data-dir', join(folder, 'data', name)];
    const guard = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
    for (const start of ['first', 'second']) {
      const running = await runProgram(
        ['start', '--role', 'rules,guard', ...place, ...guard, '--dns-threads', '2'],
        {
          env,
          cwd: folder,
          command: [node, program],
        },
      );
      for (const path of ['/healthz', '/client/v4/docs', '/client/v4/docs/page.js'])
        expect((await fetch(running.url + path)).status, path).toBe(200);
      const [, threads] = /^floodgate_dns_threads (\d)$/m.exec(await metrics(running.url)) ?? [];
      expect(threads).toBe(name === 'this Node' ? String(ownThreads()) : '2');
      expect(await running.stop(), start).toBe(0);
    }
  });

  it('prints its version with the command that npm installed', async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    const { code, stdout } = await run(join(prefix, 'bin/floodgate'), ['--version'], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${version}\n` });
  });
});

const metrics = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

/** Returns the number of threads that receive DNS on this Node: 2 if it can share a UDP port, else 1. */
function ownThreads(): number {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12) ? 2 : 1;
}
