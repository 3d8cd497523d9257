// Makes small changes (mutants) in the code and lists those that no unit test notices: `npm run mutate src/rules`, or
// `npm run mutate src/rules src/dns -- --seed 7 --count 40`. Each mutant is made alone, in a copy of the project. A
// mutant that survives is a missing test, or an equivalent program. Runs for minutes, so CI does not run it.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutants.js';
import { allIn } from './newer.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const COPIED = ['src', 'test', 'bench', 'docs', 'deploy', 'package.json', 'tsconfig.json', 'CHANGELOG.md'];
const VITEST = join(root, 'node_modules/vitest/vitest.mjs');
/** Minimum time for the tests of a mutant. A mutant whose tests take longer, for example forever, is noticed. */
const MIN_LIMIT_MS = 60_000;
/** Maximum time for the tests of a mutant, as a multiple of the time of the same tests without a mutant. */
const LIMIT_FACTOR = 3;
/** Maximum characters of a change in the table. */
const MAX_SHOWN = 60;
/** Time limit for one test and for each wait in it. Without it, a mutant that makes a test wait would take minutes. */
const HANG_MS = 10_000;
const FAILED_TO_RUN = -1;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
  },
});
const paths = positionals.length > 0 ? positionals : ['src'];
const [seed, count] = [wholeNumber('seed'), wholeNumber('count')];

function wholeNumber(name) {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  fail(`--${name} is "${values[name]}"; it must be a whole number`);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

/** Returns the sources below a path of the project. Tests, entry points and types have no mutants. */
function sourcesIn(folder) {
  const full = join(root, folder);
  if (!existsSync(full)) fail(`PATH is "${folder}"; no such file or folder in the project`);
  const files = statSync(full).isDirectory() ? allIn(full) : [full];
  const sources = files.filter((file) => /(?<!\.test|\.arbitrary|\.d|[/\\]index)\.ts$/.test(file));
  if (sources.length === 0) fail(`PATH is "${folder}"; it contains no TypeScript sources`);
  return sources.map((file) => relative(root, file));
}

/** Returns random numbers from 0 to 1 that depend only on the seed (mulberry32). */
function randomOf(state) {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns `count` random mutants of the sources, with their file and source. */
function chosenMutants(files) {
  const random = randomOf(seed);
  const all = files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return mutantsOf(source).map((mutant) => ({ ...mutant, file, source }));
  });
  return all
    .map((mutant) => ({ mutant, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

let running;
const copy = mkdtempSync(join(tmpdir(), 'floodgate-mutate-'));

/** Ends the tests that run, with all their processes, and removes the copy of the project. */
function cleanUp() {
  endTests();
  rmSync(copy, { recursive: true, force: true });
}
process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

function endTests() {
  try {
    if (running !== undefined) process.kill(-running.pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Runs vitest in the copy. Resolves with its exit status, or with undefined after `limitMs`. */
function runTests(args, limitMs) {
  return new Promise((resolve) => {
    running = spawn(process.execPath, [VITEST, ...args], { cwd: copy, stdio: 'ignore', detached: true });
    const timer = setTimeout(() => resolve(undefined), limitMs);
    running.once('exit', (status) => {
      clearTimeout(timer);
      resolve(status ?? FAILED_TO_RUN);
    });
  }).finally(endTests);
}

function copyProject() {
  for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  // Unlike the project's configuration, this one does not build the program before the tests.
  const test = {
    include: ['src/**/*.test.ts'],
    setupFiles: ['test/support/endWithVitest.ts'],
    isolate: false,
  };
  const timeouts = {
    testTimeout: 2 * HANG_MS,
    hookTimeout: 2 * HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  };
  writeFileSync(join(copy, 'test/support/hang.ts'), `export const HANG_MS = ${HANG_MS};\n`);
  writeFileSync(
    join(copy, 'vitest.config.js'),
    `export default ${JSON.stringify({ test: { ...test, ...timeouts } })}`,
  );
}

/**
 * Runs the tests that import one of the files, without a mutant. Returns the options that exclude the tests that fail,
 * because they need a build of the program, and the time limit for the tests of a mutant.
 */
async function baseline(files) {
  const report = join(copy, 'baseline.json');
  const startMs = performance.now();
  const args = ['related', ...files, '--run', '--reporter=json', `--outputFile=${report}`];
  await runTests(args, 2 ** 31 - 1);
  if (!existsSync(report)) fail('The tests did not run: run `npx vitest run --project unit` to see why');
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults
    .filter(({ status }) => status !== 'passed')
    .map(({ name }) => relative(copy, name));
  const limitMs = Math.max(MIN_LIMIT_MS, LIMIT_FACTOR * (performance.now() - startMs));
  console.log(
    `${testResults.length} test files, ${failed.length} of them excluded: they fail without a mutant`,
  );
  return { excluded: failed.flatMap((file) => ['--exclude', file]), limitMs };
}

/** Whether a test fails with the mutant. The tests in the folder of the file run first, because most mutants fail there. */
async function isNoticed({ file, source, start, end, text }, { excluded, limitMs }) {
  writeFileSync(join(copy, file), source.slice(0, start) + text + source.slice(end));
  const options = ['--run', '--bail=1', '--passWithNoTests', ...excluded];
  try {
    const near = await runTests(['run', `${dirname(file)}/`, ...options], limitMs);
    return near !== 0 || (await runTests(['related', file, ...options], limitMs)) !== 0;
  } finally {
    writeFileSync(join(copy, file), source);
  }
}

/** Returns the change of a mutant with its line, in short. */
function changeOf({ source, start, end, text }) {
  const short = (code) => code.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim().slice(0, MAX_SHOWN);
  const line = source.slice(source.lastIndexOf('\n', start) + 1).split('\n', 1)[0] ?? '';
  const isWhole = line.trim() === source.slice(start, end).trim();
  const change = `\`${short(source.slice(start, end))}\` → \`${short(text)}\``;
  return isWhole ? change : `${change} in \`${short(line)}\``;
}

const lineOf = ({ source, start }) => source.slice(0, start).split('\n').length;

const mutants = chosenMutants([...new Set(paths.flatMap(sourcesIn))].sort());
copyProject();
const tests = await baseline([...new Set(mutants.map(({ file }) => file))]);
const survivors = [];
for (const [i, mutant] of mutants.entries()) {
  const noticed = await isNoticed(mutant, tests);
  if (!noticed) survivors.push(mutant);
  const place = `${mutant.file}:${lineOf(mutant)}`;
  console.log(`${i + 1}/${mutants.length} ${noticed ? 'noticed ' : 'SURVIVED'} ${place} ${changeOf(mutant)}`);
}
console.log(`\n${mutants.length} mutants (seed ${seed}), ${survivors.length} survived`);
if (survivors.length > 0) console.log('\n| file | line | change |\n| --- | --- | --- |');
for (const mutant of survivors) console.log(`| ${mutant.file} | ${lineOf(mutant)} | ${changeOf(mutant)} |`);
