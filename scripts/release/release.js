// Writes the files of a release to release/: the package, its bill of materials, its source maps, and checksums. If
// FLOODGATE_RELEASE_KEY names an OpenSSH private key, signs the checksums. `npm run release` first lists everything
// that is missing (releaseFaults.js). --snapshot skips those checks, the advisories and the tests.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { root } from '../compile.js';
import { readLock } from './lockFile.js';
import { releaseFaults } from './releaseFaults.js';

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
  const { status } = spawnSync(process.execPath, ['scripts/release/audit.js'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail('advisories apply or could not be downloaded: see the messages above');
  // Runs the searches and load tests in full.
  process.env.CI = 'true';
  run('npm', 'test');
}
run('npm', 'run', '--silent', 'build');

/**
 * Returns the shipped packages of package-lock.json as a CycloneDX document. Bundled packages are devDependencies
 * (all but lmdb), so they are recognised by the third-party notices.
 */
function billOfMaterials() {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { status, stdout } = spawnSync('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) fail(`npm ${args.join(' ')} failed`);
  const bill = JSON.parse(String(stdout));
  const notices = readFileSync(`${root}dist/bundle/THIRD-PARTY-NOTICES.txt`, 'utf8');
  const isShipped = (component) =>
    notices.includes(`\n${component.name} ${component.version}, `) ||
    !component.properties.some((property) => property.name === 'cdx:npm:package:development');
  return { ...bill, components: bill.components.filter(isShipped), dependencies: [] };
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
run('npm', 'pack', '--silent', '--pack-destination', output);
const files = [`${name}-${version}.tgz`, `${name}-${version}.cdx.json`, `${name}-${version}.maps.tar.gz`];
writeFileSync(`${output}/${files[1]}`, `${JSON.stringify(billOfMaterials(), null, 2)}\n`);
const maps = ['dist/bundle', 'dist/exports'].flatMap((folder) =>
  readdirSync(root + folder)
    .filter((file) => file.endsWith('.js.map'))
    .map((file) => `${folder}/${file}`),
);
run('tar', '--create', '--gzip', '--file', `${output}/${files[2]}`, ...maps);
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
