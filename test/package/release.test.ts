import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root, run } from '../server/support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses: readonly unknown[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

it('a release consists of the package, its bill of materials, its source maps and their checksums, signed if there is a key', async (context) => {
  if (spawnSync('ssh-keygen', ['-?']).error !== undefined) context.skip('needs ssh-keygen');
  const key = join(folder, 'key');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'release', '-f', key]);
  const output = join(folder, 'release');
  const release = ['scripts/release/release.js', '--snapshot', '--output', output];
  const env = { FLOODGATE_RELEASE_KEY: key };
  const { code, stderr } = await run(process.execPath, release, { cwd: root, env });
  expect(stderr).not.toContain('release:');
  expect(code).toBe(0);

  const files = readdirSync(output);
  const [bill, maps, tarball] = files.filter((file) => file.startsWith('floodgate-'));
  expect(files).toEqual(['SHA256SUMS', 'SHA256SUMS.sig', bill, maps, tarball]);
  const listed = await run('tar', ['--list', '--file', join(output, String(maps))]);
  expect(listed.stdout).toContain('dist/bundle/floodgate.js.map\n');
  const sums = readFileSync(join(output, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  expect(sums.map((line) => line.split('  ')[1]).sort()).toEqual([bill, maps, tarball]);
  for (const [sum, file = ''] of sums.map((line) => line.split('  ')))
    expect(
      createHash('sha256')
        .update(readFileSync(join(output, file)))
        .digest('hex'),
    ).toBe(sum);
  const check = ['-Y', 'check-novalidate', '-n', 'floodgate', '-s', join(output, 'SHA256SUMS.sig')];
  const checked = await run('sh', [
    '-c',
    'exec ssh-keygen "$@" < "$0"',
    join(output, 'SHA256SUMS'),
    ...check,
  ]);
  expect(checked.stdout).toContain('Good "floodgate" signature');

  const { components } = JSON.parse(readFileSync(join(output, bill ?? ''), 'utf8')) as {
    components: Component[];
  };
  const reported = new Set(components.map(({ name, version }) => `${name} ${version}`));
  const notices = readFileSync(join(root, 'dist/bundle/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const bundled = [...notices.matchAll(/^-{80}\n\n(\S+ \S+), /gm)].map(([, each]) => each);
  expect(bundled.length).toBeGreaterThan(50);
  expect(bundled.filter((each) => !reported.has(each ?? ''))).toEqual([]);
  const lmdb = components.find(({ name }) => name === 'lmdb');
  expect(lmdb?.hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
});
