import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allIn, isNewer } from './newer.js';

export const root = fileURLToPath(new URL('../', import.meta.url));
export const compiler = `${root}node_modules/typescript/bin/tsc`;

/** Files of pages, which are no TypeScript: the compiler leaves them out. By room; in a bundle they are all in one folder. */
const PAGE_FILES = {
  'platform/page': ['style/page.css'],
  'rules/api': ['page/page.js'],
  'ethereum/gateway': ['methodsPage/page.js', 'methodsPage/calls.js'],
};

/** Compiles what changed of a project, whose form of src/ is in `folder`. Answers the compiler's exit status. */
export function compile(project, folder) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', root + project], { stdio: 'inherit' });
  if (status === 0) copyPages((room) => `${root}${folder}/${room}`);
  return status ?? 1;
}

/** Puts the files of pages beside the program that finds them there: in the folder of their room. */
export function copyPages(folderOf) {
  for (const [room, files] of Object.entries(PAGE_FILES))
    for (const file of files) {
      const copy = `${folderOf(room)}/${file}`;
      mkdirSync(dirname(copy), { recursive: true });
      cpSync(`${root}src/${room}/${file}`, copy);
    }
}

/** Its time is that of the last compilation without an error. */
const COMPILED = `${root}dist/.compiled`;
/** Beside src/. */
const COMPILED_BY = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'node_modules/.package-lock.json',
  'scripts/compile.js',
].map((file) => root + file);

/** Compiles the program, into dist/. Where nothing changed the compiler is not asked: it takes two seconds to find that out. */
export function compileProgram() {
  if (isNewer(COMPILED, [...allIn(`${root}src`), ...COMPILED_BY])) return 0;
  const begunAt = new Date();
  const status = compile('tsconfig.build.json', 'dist');
  if (status === 0) {
    writeFileSync(COMPILED, '');
    // What is changed meanwhile is compiled the next time.
    utimesSync(COMPILED, begunAt, begunAt);
  }
  return status;
}
