// Stores the data that a release writes, for the upgrade test (test/server/upgrade.test.ts): test/fixtures/releases/VERSION.tar.br contains a
// backup, the program, and its answers. Run `npm run release:fixture` in a clean checkout of the release. For an older commit run
// `node scripts/release/releaseFixture.js FOLDER NAME`, where FOLDER is a checkout in which `npm run build` was run.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { brotliCompressSync, constants } from 'node:zlib';
import { compile, root } from '../compile.js';

// The traffic generator is part of the benchmarks' project.
if (compile('tsconfig.bench.json', 'dist/.bench/src') !== 0) process.exit(1);
const { createTraffic, startAnvil } = await import(`${root}dist/.bench/test/support/anvil.js`);

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const [checkout = root, name = version] = process.argv.slice(2);
const ACCOUNT = 'fixture';
const STEPS = 40;
const SEED = 11;
const POLL_MS = 50;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-release-'));
const [dataDir, archive] = [join(folder, 'data'), join(folder, 'archive')];
for (const made of [dataDir, archive]) mkdirSync(made);
const program = join(checkout, 'dist/bundle/floodgate.js');
const env = { PATH: process.env.PATH, HOME: folder };

const floodgate = (...args) =>
  execFileSync(process.execPath, [program, ...args, '--data-dir', dataDir], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });

async function start(...args) {
  const child = spawn(process.execPath, [program, 'start', '--port', '0', '--data-dir', dataDir, ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stderr)) {
    const { url } = line.includes('"listening"') ? JSON.parse(line) : {};
    if (url === undefined) continue;
    child.stderr.resume();
    const stop = async () => {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    };
    return { url, stop };
  }
  throw new Error(`the program did not start: ${program} ${args.join(' ')}`);
}

const anvil = await startAnvil();
try {
  const traffic = await createTraffic({ url: anvil.url, seed: SEED });
  const head = (await traffic.run({ steps: STEPS })).at(-1).number;
  const zone = join(folder, 'zone');
  writeFileSync(
    zone,
    ['@ SOA ns admin 1 1 1 1 1', '@ NS ns', 'ns A 192.0.2.1', 'www A 192.0.2.2', ''].join('\n'),
  );
  const guard = ['--dns-account', ACCOUNT, '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
  const server = await start(
    ...['--upstream', anvil.url, '--index-from', '0', ...guard, '--dns-zones', `example.test=${zone}`],
  );
  while ((await fetch(`${server.url}/readyz`)).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));

  const permissions = ['read', 'write', 'audit'].flatMap((permission) => ['--permission', permission]);
  const { token } = JSON.parse(
    floodgate('token', 'create', '--all-accounts', ...permissions, '--label', 'fixture', '--json'),
  );
  const revoked = JSON.parse(floodgate('token', 'create', '--account', ACCOUNT, '--json'));
  floodgate('token', 'revoke', revoked.id);
  const [key] = floodgate('key', 'create', '--name', 'fixture').split('\n');

  const configs = `/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs`;
  const ask = async ({ path, method = 'GET', body, bearer = token }) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const answer = await fetch(server.url + path, { method, headers, ...json });
    return { status: answer.status, answer: await answer.json() };
  };
  const rule = {
    ...{ scope: 'global', name: 'global', mode: 'enabled' },
    ...{ rate_sensitivity: 'low', burst_sensitivity: 'medium', profile_sensitivity: 'high' },
  };
  const posts = [
    [`${configs}/dns_protection/rules`, rule],
    [`${configs}/dns_protection/rules`, { ...rule, scope: 'region', name: 'WEUR', mode: 'monitoring' }],
    [`${configs}/allowlist`, { prefix: '192.0.2.0/24', comment: 'ours', enabled: true }],
    [`${configs}/denylist`, { prefix: '2001:db8::/32', comment: '', enabled: false }],
  ];
  for (const [path, body] of posts) {
    const made = await ask({ path, method: 'POST', body });
    if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made)}`);
  }

  const call = (method, ...params) => ({
    ...{ path: '/v1/mainnet', method: 'POST', bearer: key },
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
  const hex = (number) => `0x${number.toString(16)}`;
  const range = { fromBlock: '0x0', toBlock: hex(head) };
  const { answer: first } = await ask(call('trace_block', hex(head)));
  const { from, to } = first.result[0].action;
  const questions = [
    ...['dns_protection/rules', 'allowlist', 'denylist', 'dns_protection/audit'].map((path) => ({
      path: `${configs}/${path}`,
    })),
    ...Array.from({ length: head + 1 }, (_, number) => call('trace_block', hex(number))),
    call('trace_filter', { ...range, toAddress: [to], count: 200 }),
    call('trace_transaction', first.result[0].transactionHash),
    call('floodgate_addressTraces', { address: from, ...range }),
    call('floodgate_addressSummary', { address: from, ...range }),
  ];
  const asked = [];
  for (const question of questions) {
    const { status, answer } = await ask(question);
    if (status !== 200 || answer.error) throw new Error(JSON.stringify({ question, status, answer }));
    asked.push({ question, answer });
  }
  const code = await server.stop();
  if (code !== 0) throw new Error(`the server ended with ${code}`);
  const listed = (...words) =>
    floodgate(...words, '--json')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const expected = {
    ...{ commit: execFileSync('git', ['-C', checkout, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim() },
    ...{ head, token, key, revokedToken: revoked.token, configs, asked },
    ...{ tokens: listed('token', 'list'), keys: listed('key', 'list') },
  };
  writeFileSync(join(archive, 'expected.json'), JSON.stringify(expected));
  floodgate('backup', join(archive, 'backup'));
} finally {
  await anvil.stop();
}

cpSync(join(checkout, 'dist/bundle'), join(archive, 'program/dist/bundle'), {
  recursive: true,
  filter: (file) => !file.endsWith('.map'),
});
cpSync(join(checkout, 'package.json'), join(archive, 'program/package.json'));
const { stdout: tar } = spawnSync('tar', ['-C', archive, '-cf', '-', '.'], { maxBuffer: 1024 ** 3 });
const params = {
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: tar.length,
};
const packed = brotliCompressSync(tar, { params });
const file = `${root}test/fixtures/releases/${name}.tar.br`;
mkdirSync(`${root}test/fixtures/releases`, { recursive: true });
writeFileSync(file, packed);
rmSync(folder, { recursive: true, force: true });
console.log(`${file}: ${tar.length} bytes packed into ${packed.length}`);
