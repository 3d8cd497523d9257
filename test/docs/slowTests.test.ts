import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../server/support/run.ts';
import { SLOW } from '../slow.ts';

it('every slow test that test/slow.ts lists exists', () => {
  const fixed = SLOW.map((path) => path.replace(/\/\*.*$/, ''));
  expect(fixed.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
