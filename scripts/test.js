// Every check there is: the quick ones first, then the tests. What a quick one finds is told together, and no test is run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const checks = [
  ['format and lint', 'lint'],
  ['types', 'types'],
  ['imports', 'imports'],
  ['unused', 'unused'],
];

function passes(name, [command, ...args]) {
  console.log(`\n# ${name}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) console.error(`\n# ${name} failed`);
  return status === 0;
}

const failed = checks
  .filter(([name, script]) => !passes(name, ['npm', 'run', '--silent', script]))
  .map(([name]) => name);
if (failed.length > 0) {
  console.error(`\nNo test was run: first mend ${failed.join(', ')}.`);
  console.log(`0 passed, ${failed.length} failed, 0 skipped`);
  process.exit(1);
}
if (!passes('tests', ['npx', '--no-install', 'vitest', 'run', ...process.argv.slice(2)])) process.exit(1);
