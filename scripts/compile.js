import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));
export const compiler = `${root}node_modules/typescript/bin/tsc`;

/** What of src/ is no TypeScript: the compiler leaves it out. */
const COPIED = ['rules/api/page/page.js', 'rules/api/page/page.css'];

/** Compiles what changed of a project, whose form of src/ is in `folder`. Answers the compiler's exit status. */
export function compile(project, folder) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', root + project], { stdio: 'inherit' });
  if (status === 0) for (const file of COPIED) cpSync(`${root}src/${file}`, `${root}${folder}/${file}`);
  return status ?? 1;
}

/** Compiles the program, into dist/. */
export const compileProgram = () => compile('tsconfig.build.json', 'dist');
