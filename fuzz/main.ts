/** Fuzzes one target: `npm run fuzz TARGET -- --minutes 5`. Findings are written to `fuzz/findings`. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Coverage } from './engine/coverage.ts';
import { type Finding, fuzz } from './engine/fuzz.ts';
import { FINDINGS, isTargetName, openTarget, TARGETS } from './targets.ts';

const DEFAULT_MINUTES = 5;
const REPORT_MS = 10_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, runs: { type: 'string' }, seed: { type: 'string' } },
});
const name = positionals[0] ?? '';
if (!isTargetName(name)) throw new Error(`unknown target "${name}"; the targets are ${TARGETS.join(', ')}`);
const minutes = numberOf('minutes', values.minutes) ?? DEFAULT_MINUTES;
const maxRuns = numberOf('runs', values.runs) ?? Number.POSITIVE_INFINITY;
const seed = numberOf('seed', values.seed) ?? Date.now() % 2 ** 32;

const coverage = new Coverage((url) => url.includes('/.fuzz/src/'));
coverage.start();
const target = await openTarget(name);
const started = performance.now();
let reported = started;
console.log(`${name}: seed ${seed}, ${target.seeds.length} seeds, ${minutes} minutes`);
const { runs, corpus, findings } = await fuzz(target, { seed, coverage, goesOn, onFinding });
await target.close?.();
coverage.stop();
console.log(line(runs), `${corpus.length} inputs in the corpus, ${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;

function goesOn(runs: number): boolean {
  const now = performance.now();
  if (now - reported > REPORT_MS) {
    console.log(line(runs));
    reported = now;
  }
  return runs < maxRuns && now - started < 60_000 * minutes;
}

function line(runs: number): string {
  const seconds = (performance.now() - started) / 1000;
  return `${seconds.toFixed(0)} s: ${runs} runs, ${(runs / seconds).toFixed(0)}/s;`;
}

function onFinding({ input, kind, error }: Finding): void {
  const digest = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const folder = join(FINDINGS, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, digest), input);
  console.log(`\nfound: ${kind}\n  in ${folder}/${digest}, ${input.length} bytes\n`, error, '\n');
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new Error(`--${option} is ${text}; it must be a number of at least 0`);
}
