import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allIn, isNewer } from './newer.js';

it('isNewer returns false after a file anywhere in the source folder was changed, added or removed', () => {
  const root = mkdtempSync(join(tmpdir(), 'floodgate-newer-'));
  const [folder, made] = [join(root, 'folder'), join(root, 'made')];
  mkdirSync(join(folder, 'deep'), { recursive: true });
  const [kept, added] = ['kept', 'added'].map((name) => join(folder, 'deep', name));
  writeFileSync(kept, '');
  writeFileSync(made, '');
  const isMade = () => isNewer(made, allIn(folder));
  const make = (atSeconds) => utimesSync(made, atSeconds, atSeconds);
  const age = () => {
    for (const file of allIn(folder)) utimesSync(file, 1, 1);
    make(2);
    expect(isMade()).toBe(true);
  };
  age();
  utimesSync(kept, 2, 2);
  expect(isMade()).toBe(false);
  age();
  writeFileSync(added, '');
  expect(isMade()).toBe(false);
  age();
  rmSync(added);
  expect(isMade()).toBe(false);
  age();
  rmSync(made);
  expect(isMade()).toBe(false);
  rmSync(root, { recursive: true });
});
