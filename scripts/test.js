// Every check there is, the quick ones first: format and lint, types, then the tests.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const steps = [
  ['format and lint', 'biome', ['check', '--error-on-warnings', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['types of the try-it page', 'tsc', ['-p', 'src/rules/api/page']],
  ['tests', 'vitest', ['run', ...process.argv.slice(2)]],
];

for (const [name, command, args] of steps) {
  console.log(`\n# ${name}`);
  const { status } = spawnSync('npx', ['--no-install', command, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`\n# ${name} failed`);
    process.exit(status ?? 1);
  }
}
