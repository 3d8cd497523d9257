// Adds to package-lock.json, or to the lock file that is named, the platform packages that npm left out because the registry
// at hand did not have them (binaries for other systems). Without their entries `npm ci` refuses the lock file; with them it
// skips what is not for this system, and installs on other systems find theirs. Run after every `npm install`.
import { readFileSync, writeFileSync } from 'node:fs';

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
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
    ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x'].map((cpu) => [cpu, cpu]),
  ),
};

for (const [path, owner] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (path === '' || lock.packages[key]) continue;
    const words = name.split(/[/-]/);
    const os = systems.filter((system) => words.includes(system));
    const cpu = words.flatMap((word) => processors[word] ?? []);
    if (os.length === 0 || cpu.length === 0)
      throw new Error(`${name}: no system in its name; add it by hand`);
    const libc = words.includes('musl') ? { libc: ['musl'] } : {};
    lock.packages[key] = { version, cpu, ...(owner.dev && { dev: true }), ...libc, optional: true, os };
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
