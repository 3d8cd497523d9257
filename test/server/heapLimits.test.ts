import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const compiled = (name: string): string =>
  fileURLToPath(new URL(`../../dist/cli/${name}.js`, import.meta.url));
const limits = compiled('heapLimits');

interface RunOptions {
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
}

async function run(program: string, { flags = [], args = [] }: RunOptions = {}): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    ...['--input-type=module', '-e', program, '--'],
    ...args,
  ]);
  return JSON.parse(stdout);
}

/** A program with the limits prints its space for new objects: at its start, busy, with much that survives, and with that for seconds. */
const PROGRAM = `
import { getHeapSpaceStatistics } from 'node:v8';
import { setTimeout as pause } from 'node:timers/promises';
await import(process.argv[1]);
const space = () => getHeapSpaceStatistics().find((one) => one.space_name === 'new_space');
const mebibytes = () => Math.round((space().space_used_size + space().space_available_size) / 2 ** 20);
const sizes = [];
sizes.push(mebibytes());
let kept = [];
for (let turn = 0; mebibytes() < 4 && turn < 2_000; turn++) {
  for (let i = 0; i < 100_000; i++) kept.push({ i });
  await pause(5);
  kept = [];
}
sizes.push(mebibytes());
// Far more survives than the space holds: left alone, V8 would grow it to 16 MiB.
for (let i = 0; i < 2_000_000; i++) kept.push({ i });
sizes.push(mebibytes());
// That much is in use for as long as it takes: then collections are what takes the time.
for (let turn = 0; mebibytes() < 8 && turn < 2_000; turn++) {
  kept = [];
  for (let i = 0; i < 400_000; i++) kept.push({ i });
  await pause(1);
}
// And no more, however long it goes on.
for (const end = performance.now() + 3_000; performance.now() < end; await pause(1)) {
  kept = [];
  for (let i = 0; i < 400_000; i++) kept.push({ i });
}
sizes.push(mebibytes());
console.log(JSON.stringify(sizes));
`;

it('a program that is busy gets a space for new objects of 4 MiB where it began with 1 MiB, 8 MiB where it collects for long, and no more', async () => {
  expect(await run(PROGRAM, { args: [limits] })).toEqual([1, 4, 4, 8]);
});

/** A program that collects old objects, and nothing else, for seconds prints its space for new ones. */
const COLLECTOR = `
import { getHeapSpaceStatistics } from 'node:v8';
import { setTimeout as pause } from 'node:timers/promises';
await import(process.argv[1]);
const space = () => getHeapSpaceStatistics().find((one) => one.space_name === 'new_space');
let most = 0;
for (const end = performance.now() + 7_000; performance.now() < end; await pause(1)) {
  gc();
  most = Math.max(most, space().space_used_size + space().space_available_size);
}
console.log(Math.round(most / 2 ** 20));
`;

it('a program that collects old objects for long gets no more than 4 MiB for new ones', async () => {
  expect(await run(COLLECTOR, { flags: ['--expose-gc'], args: [limits] })).toBeLessThanOrEqual(4);
});

/** A program that has made objects which survived prints in how many bytes of the space for old ones it makes others that do not. */
const MAKER = `
import { getHeapSpaceStatistics } from 'node:v8';
import { setTimeout as pause } from 'node:timers/promises';
for (const file of process.argv.slice(1)) await import(file).then(({ loaded }) => loaded?.());
const oldBytes = () => getHeapSpaceStatistics().find((one) => one.space_name === 'old_space').space_used_size;
const make = (i) => ({ i, of: { i } });
let kept = [];
for (let turn = 0; turn < 60; turn++) {
  for (let i = 0; i < 50_000; i++) kept.push(make(i));
  await pause(1);
}
kept = [];
await pause(100);
const last = new Array(16);
function madeOld() {
  const before = oldBytes();
  for (let i = 0; i < 10_000; i++) last[i & 15] = make(i);
  return oldBytes() - before;
}
console.log(Math.min(...Array.from({ length: 5 }, madeOld)));
`;
const OBJECTS_BYTES = 10_000 * 50;

it('objects that do not survive are not made among old ones because those before them did', async () => {
  // When V8 compiles the code is up to its threads otherwise: on a busy machine it comes too late.
  const flags = ['--single-threaded'];
  expect(await run(MAKER, { flags, args: [limits, compiled('loaded')] })).toBeLessThan(OBJECTS_BYTES / 10);
  // So that this does not pass because V8 has come not to: that of Node 22 does not here.
  if (process.versions.node.startsWith('22.')) return;
  expect(await run(MAKER, { flags })).toBeGreaterThan(OBJECTS_BYTES);
});
