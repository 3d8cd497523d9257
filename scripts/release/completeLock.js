// Completes lock files if the registry lacks packages (binaries for other systems): npm omits their entries, and
// `npm ci` then rejects the lock file. Added entries have no hash, because it is unknown. Existing entries without a
// hash are requested again, and receive it if the registry has the package now.
// Run after every `npm install`: node scripts/release/completeLock.js.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { root } from '../compile.js';
import { LOCKED, readLock, withoutHash } from './lockFile.js';

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = {
  amd64: 'x64',
  ...Object.fromEntries(
    ['x64', 'arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x'].map((cpu) => [cpu, cpu]),
  ),
};

for (const folder of LOCKED) {
  const lock = readLock(folder);
  const before = withoutHash(lock).map((path) => [path, lock.packages[path]]);
  if (before.length > 0) {
    for (const [path] of before) delete lock.packages[path];
    write(folder, lock);
    const options = ['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...options], { cwd: root + folder, stdio: 'inherit' });
  }
  const { packages, ...rest } = readLock(folder);
  addMissing(packages, Object.fromEntries(before));
  const completed = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  write(folder, { ...rest, packages: completed });
  const left = withoutHash({ packages: completed }).length;
  if (left > 0)
    console.error(
      `${folder}/package-lock.json: ${left} packages have no hash, because this registry does not have them`,
    );
}

function addMissing(packages, before) {
  for (const [path, owner] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      const key = `node_modules/${name}`;
      if (path === '' || packages[key]) continue;
      packages[key] = before[key]?.version === version ? before[key] : entryOf(name, { version, owner });
    }
  }
}

function entryOf(name, { version, owner }) {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = words.flatMap((word) => processors[word] ?? []);
  if (os.length === 0 || cpu.length === 0)
    throw new Error(`${name}: cannot derive its system from its name; add the entry by hand`);
  const libc = words.includes('musl') ? { libc: ['musl'] } : {};
  return { version, cpu, ...(owner.dev && { dev: true }), ...libc, optional: true, os };
}

function write(folder, lock) {
  writeFileSync(`${root}${folder}/package-lock.json`, `${JSON.stringify(lock, null, 2)}\n`);
}
