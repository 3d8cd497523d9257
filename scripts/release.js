// Makes what a release consists of, in release/: the package, its bill of materials, checksums, and a signature of those where
// FLOODGATE_RELEASE_KEY names a private key of OpenSSH's. Run by `npm run release`, which first says all that is missing; with --snapshot it is one
// to try: neither what a release has to have (releaseFaults.js) is looked at, nor the tests, nor the advisories.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { root } from './compile.js';
import { readLock } from './lockFile.js';
import { releaseFaults } from './releaseFaults.js';
import { sbom } from './sbom.js';

const {
  values: { snapshot, output },
} = parseArgs({
  options: {
    snapshot: { type: 'boolean', default: false },
    output: { type: 'string', default: `${root}release` },
  },
});
const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const { name, version } = manifest;

function fail(message) {
  console.error(`release: ${message}`);
  process.exit(1);
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) fail(`${[command, ...args].join(' ')} failed: see the messages above`);
}

if (!snapshot) {
  const faults = releaseFaults({
    manifest,
    changelog: readFileSync(`${root}CHANGELOG.md`, 'utf8'),
    lock: readLock('.'),
    hasFixture: existsSync(`${root}test/fixtures/releases/${version}.tar.br`),
    tag: process.env.GITHUB_REF_TYPE === 'tag' ? process.env.GITHUB_REF_NAME : undefined,
  });
  for (const fault of faults) console.error(`release: ${fault}`);
  if (faults.length > 0) process.exit(1);
  const { status } = spawnSync(process.execPath, ['scripts/audit.js'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail('no release without a look at the advisories: see the messages above');
  // Searches and loads in full.
  process.env.CI = 'true';
  run('npm', 'test');
}
run('npm', 'run', '--silent', 'build');

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
run('npm', 'pack', '--silent', '--pack-destination', output);
const files = [`${name}-${version}.tgz`, `${name}-${version}.cdx.json`];
writeFileSync(`${output}/${files[1]}`, `${JSON.stringify(sbom(), null, 2)}\n`);
const sha256 = (file) =>
  createHash('sha256')
    .update(readFileSync(`${output}/${file}`))
    .digest('hex');
const sums = files.map((file) => `${sha256(file)}  ${file}\n`);
writeFileSync(`${output}/SHA256SUMS`, sums.join(''));
const key = process.env.FLOODGATE_RELEASE_KEY;
if (key !== undefined) run('ssh-keygen', '-Y', 'sign', '-n', name, '-f', key, `${output}/SHA256SUMS`);
console.log(
  `${output}: ${[...files, 'SHA256SUMS', ...(key === undefined ? [] : ['SHA256SUMS.sig'])].join(', ')}`,
);
