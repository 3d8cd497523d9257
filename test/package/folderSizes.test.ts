import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_FILES = 20;

it.each(['src', 'console/src'])(
  `a folder of %s has at most ${MAX_FILES} files that are not tests`,
  (folder) => {
    const files = readdirSync(`${ROOT}${folder}`, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name),
    );
    const counts = new Map<string, number>();
    for (const { parentPath } of files) counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
    expect(counts.size).toBeGreaterThan(1);
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  },
);
