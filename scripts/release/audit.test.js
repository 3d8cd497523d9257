import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Mock registry: tests cannot choose the advisories of the real one. */
let registry;
let answer;
let asked;
const cache = mkdtempSync(join(tmpdir(), 'floodgate-audit-'));

beforeAll(async () => {
  registry = createServer(async (request, response) => {
    const chunks = await request.toArray();
    // npm also requests the packages that an advisory names; after a 404 it uses the lock file instead.
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

it('npm run audit exits with 1 and names the package if an advisory applies to a package of the lock file', async () => {
  answer = (response) => response.end(JSON.stringify({ lmdb: [ADVISORY] }));
  const { code, stdout, stderr } = await audit();
  expect(Object.keys(JSON.parse(asked))).toEqual(expect.arrayContaining(['lmdb', 'fastify', 'undici']));
  expect(stderr).toMatch(/^audit: high: lmdb .*Made up https:.*example.test.advisory/m);
  expect(stdout).toMatch(/audit: \d+ packages checked, 1 with advisories, 1 of these above "low"/);
  expect(code).toBe(1);
});

it('npm run audit exits with 75 and reports that nothing was checked if the advisories cannot be downloaded', async () => {
  answer = (response) => response.writeHead(404).end('{"error":"no such thing"}');
  const { code, stdout, stderr } = await audit();
  expect({ code, stdout }).toEqual({ code: 75, stdout: '' });
  expect(stderr).toContain('audit: SKIPPED, nothing was checked');
});
