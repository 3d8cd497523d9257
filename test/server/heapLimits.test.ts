import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const limits = fileURLToPath(new URL('../../dist/cli/heapLimits.js', import.meta.url));

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
  for (let i = 0; i < 100_000; i++) kept.push({ i });
  await pause(1);
}
sizes.push(mebibytes() >= 8);
console.log(JSON.stringify(sizes));
`;

it('a program that is busy gets a space for new objects of 4 MiB where it began with 1 MiB, and more where it collects for long', async () => {
  const args = ['--input-type=module', '-e', PROGRAM, '--', limits];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual([1, 4, 4, true]);
});
