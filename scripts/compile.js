import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Compiles the program, into dist/. */
export const compileProgram = () => compile('tsconfig.build.json', 'dist');
