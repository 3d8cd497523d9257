import { spawnSync } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { allIn, isNewer } from './newer.js';

export const root = fileURLToPath(new URL('../', import.meta.url));
export const compiler = `${root}node_modules/typescript/bin/tsc`;

/** Compiles the files of a project that changed. Returns the compiler's exit status. */
export function compile(project) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', root + project], { stdio: 'inherit' });
  return status ?? 1;
}

/** Its modification time is the time of the last compilation without errors. */
const COMPILED = `${root}dist/.compiled`;
/** Inputs of the compilation other than src/. */
const COMPILED_BY = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'node_modules/.package-lock.json',
  'scripts/compile.js',
].map((file) => root + file);

/** Compiles the program into dist/ if a source changed. The compiler itself needs two seconds to detect that. */
export function compileProgram() {
  if (isNewer(COMPILED, [...allIn(`${root}src`), ...COMPILED_BY])) return 0;
  const begunAt = new Date();
  const status = compile('tsconfig.build.json');
  if (status === 0) {
    writeFileSync(COMPILED, '');
    // Changes during the compilation are compiled next time.
    utimesSync(COMPILED, begunAt, begunAt);
  }
  return status;
}
