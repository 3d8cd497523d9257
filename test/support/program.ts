import { fileURLToPath } from 'node:url';

/** The shipped program, which `test/support/build.ts` builds. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bundle/floodgate.js', import.meta.url));
