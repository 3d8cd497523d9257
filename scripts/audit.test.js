import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Stands in for the registry, whose advisories no test can choose. */
let registry;
let answer;
let asked;
const cache = mkdtempSync(join(tmpdir(), 'floodgate-audit-'));

beforeAll(async () => {
  registry = createServer(async (request, response) => {
    const chunks = await request.toArray();
    // It also asks for the packages that an advisory is about; without an answer it goes by the lock file.
    if (!request.url.endsWith('/advisories/bulk')) return response.writeHead(404).end('{}');
    const body = Buffer.concat(chunks);
    asked = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
});
afterAll(() => {
  registry.close();
  rmSync(cache, { recursive: true, force: true });
});

async function audit() {
  const url = `http://127.0.0.1:${registry.address().port}/`;
  const args = ['--registry', url, '--cache', cache, '--fetch-retries', '0'];
  const script = fileURLToPath(new URL('audit.js', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.toArray(),
    once(child, 'exit'),
  ]);
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

const ADVISORY = {
  ...{ id: 1, url: 'https://example.test/advisory', title: 'Made up', severity: 'high' },
  ...{ vulnerable_versions: '*', cwe: [], cvss: { score: 7, vectorString: null } },
};

it('fails where an advisory is about a package of the lock file, and names it', async () => {
  answer = (response) => response.end(JSON.stringify({ lmdb: [ADVISORY] }));
  const { code, stdout, stderr } = await audit();
  expect(Object.keys(JSON.parse(asked))).toEqual(expect.arrayContaining(['lmdb', 'fastify', 'undici']));
  expect(stderr).toMatch(/^audit: high: lmdb .*Made up https:.*example.test.advisory/m);
  expect(stdout).toMatch(/audit: \d+ packages were checked, 1 have advisories, 1 of these more than low/);
  expect(code).toBe(1);
});

it('says that nothing was checked where the advisories cannot be had', async () => {
  answer = (response) => response.writeHead(404).end('{"error":"no such thing"}');
  const { code, stdout, stderr } = await audit();
  expect({ code, stdout }).toEqual({ code: 75, stdout: '' });
  expect(stderr).toContain('audit: SKIPPED, nothing was checked');
});
