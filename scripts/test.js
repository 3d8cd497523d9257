// Runs all checks of `npm test`: first the quick ones in parallel, then the tests. If a quick check fails, no test is
// run. The slow tests (test/slow.ts) run in CI, and if paths are given.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const LINT = 'format and lint';
/** The longest first. */
const checks = [
  ['types', 'types'],
  ['unused', 'unused'],
  ['imports', 'imports'],
  [LINT, 'lint'],
];

/**
 * Runs a check. Resolves with its output, which is printed in one piece, so that the outputs of two checks do not
 * mix.
 */
function run([name, script]) {
  return new Promise((resolve, reject) => {
    const check = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    for (const stream of [check.stdout, check.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
    check.once('error', reject);
    check.once('close', (status) => resolve({ name, output: Buffer.concat(chunks), isPassed: status === 0 }));
  });
}

const results = await Promise.all(checks.map(run));
const failed = new Set(results.filter(({ isPassed }) => !isPassed).map(({ name }) => name));
// Type errors hide uses, so that code in use is reported as unused.
const isMisleading = (name) => name === 'unused' && failed.has('types');
for (const { name, output, isPassed } of results) {
  if (isMisleading(name)) continue;
  process.stdout.write(`\n# ${name}\n${output}`);
  if (!isPassed) console.error(`\n# ${name} failed`);
}
if (failed.size > 0) {
  const names = [...failed].filter((name) => !isMisleading(name));
  if (failed.has(LINT)) console.error('\n`npm run format` fixes the format and part of the lint findings.');
  console.error(`\nNo test was run: fix ${names.join(', ')} first, then run npm test again.`);
  console.log(`0 passed, ${names.length} failed, 0 skipped`);
  process.exit(1);
}
const paths = process.argv.slice(2);
const isCi = !['', 'false', undefined].includes(process.env.CI);
const areAllRun = isCi || paths.length > 0;
console.log(
  areAllRun ? '\n# tests' : '\n# tests, except the slow ones: `CI=true npm test` runs them too, as CI does',
);
const projects = areAllRun ? [] : ['--project', 'unit', '--project', 'blackbox'];
const vitest = ['--no-install', 'vitest', 'run', ...projects, ...paths];
const { status } = spawnSync('npx', vitest, { cwd: root, stdio: 'inherit' });
if (status !== 0) {
  console.error('\n# tests failed');
  process.exit(1);
}
