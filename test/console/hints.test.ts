import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { floodgate } from '../rules/support/command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'console/src');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => /(?<!\.test|\.d)\.tsx?$/.test(path))
  .map((path) => join(folder, path));
const commands = new Set(
  [
    ...readFileSync(join(root, 'docs/reference/commands.md'), 'utf8').matchAll(
      /^\| `floodgate ([^`]+)` \|/gm,
    ),
  ].map(([, name]) => name),
);

/** Returns the `floodgate` commands in the sources of the console, each with its flags. */
function hints(): ReadonlyMap<string, ReadonlySet<string>> {
  const reported = new Map<string, Set<string>>();
  for (const path of sources)
    for (const [, words = '', rest = ''] of readFileSync(path, 'utf8').matchAll(
      /\bfloodgate ([a-z]+(?: [a-z]+)*)(.*)/g,
    )) {
      const flags = reported.get(words) ?? new Set();
      for (const [flag] of rest.matchAll(/--[a-z][a-z-]*/g)) flags.add(flag);
      reported.set(words, flags);
    }
  return reported;
}

describe('commands shown by the console', () => {
  it('exist with their flags in docs/reference/commands.md and --help', async () => {
    const reported = hints();
    expect(reported.size).toBeGreaterThan(4);
    expect([...reported.keys()].filter((words) => !commands.has(words))).toEqual([]);
    await Promise.all(
      [...reported].map(async ([words, flags]) => {
        // The help of `start` lists all options only with --help-all.
        const { stdout } = await floodgate([
          ...words.split(' '),
          words === 'start' ? '--help-all' : '--help',
        ]);
        const known = new Set(stdout.match(/--[a-z][a-z-]*/g));
        expect([words, [...flags].filter((flag) => !known.has(flag))]).toEqual([words, []]);
      }),
    );
  });
});
