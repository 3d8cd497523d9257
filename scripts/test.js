// Every check there is: the quick ones first, all at once, then the tests. What a quick one finds is told together, and no test is run.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
/** The longest first. */
const checks = [
  ['types', 'types'],
  ['unused', 'unused'],
  ['imports', 'imports'],
  ['format and lint', 'lint'],
];

/** Told when it has ended, so that none stands in the middle of another. */
function passes([name, script]) {
  return new Promise((resolve, reject) => {
    const check = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const told = [];
    for (const stream of [check.stdout, check.stderr]) stream.on('data', (chunk) => told.push(chunk));
    check.once('error', reject);
    check.once('close', (status) => {
      process.stdout.write(`\n# ${name}\n${Buffer.concat(told)}`);
      if (status !== 0) console.error(`\n# ${name} failed`);
      resolve(status === 0);
    });
  });
}

const results = await Promise.all(checks.map(passes));
const failed = checks.filter((_, i) => !results[i]).map(([name]) => name);
if (failed.length > 0) {
  console.error(`\nNo test was run: first mend ${failed.join(', ')}.`);
  console.log(`0 passed, ${failed.length} failed, 0 skipped`);
  process.exit(1);
}
console.log('\n# tests');
const vitest = ['--no-install', 'vitest', 'run', ...process.argv.slice(2)];
const { status } = spawnSync('npx', vitest, { cwd: root, stdio: 'inherit' });
if (status !== 0) {
  console.error('\n# tests failed');
  process.exit(1);
}
