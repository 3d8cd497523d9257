import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));
export const compiler = `${root}node_modules/typescript/bin/tsc`;

/** The folder of the documentation page, whose files are no TypeScript: the compiler leaves them out. */
const API = 'rules/api';
const PAGE = ['page/page.js', 'page/page.css'];

/** Compiles what changed of a project, whose form of src/ is in `folder`. Answers the compiler's exit status. */
export function compile(project, folder) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', root + project], { stdio: 'inherit' });
  if (status === 0) copyPage(`${root}${folder}/${API}`);
  return status ?? 1;
}

/** Puts the files of the documentation page beside the program that finds them there. */
export function copyPage(folder) {
  for (const file of PAGE) {
    mkdirSync(dirname(`${folder}/${file}`), { recursive: true });
    cpSync(`${root}src/${API}/${file}`, `${folder}/${file}`);
  }
}

/** Compiles the program, into dist/. */
export const compileProgram = () => compile('tsconfig.build.json', 'dist');
