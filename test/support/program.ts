import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The shipped program, which `test/support/build.ts` builds. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bundle/floodgate.js', import.meta.url));

/** Flags for Node in the first line of a program: an installed `floodgate` runs with them. */
export const nodeFlagsOf = (program: string): string[] =>
  readFileSync(program, 'utf8')
    .split('\n', 1)
    .join('')
    .split(' ')
    .filter((word) => word.startsWith('--'));
