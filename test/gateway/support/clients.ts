import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Runs a program until it exits. */
export const run = promisify(execFile);

/** Folder of the programs that use client libraries. */
export const CLIENTS = fileURLToPath(new URL('../clients/', import.meta.url));

export const has = (
  command: string,
  args: readonly string[],
  options: Parameters<typeof spawnSync>[2] = {},
) => spawnSync(command, args, options).status === 0;

export const hasPython = (module: string): boolean =>
  has('python3', ['-c', `import importlib.util as u, sys; sys.exit(u.find_spec('${module}') is None)`]);

/** Whether an npm package is in `.ci/clients`. */
export const hasClient = (name: string): boolean =>
  existsSync(new URL(`../../../.ci/clients/node_modules/${name}/package.json`, import.meta.url));

/** Reason why tests of packages in `.ci/clients` are skipped. */
export const NO_CLIENTS = 'it is not installed; run `npm ci --prefix .ci/clients`';

/** Imports an npm package of `.ci/clients`. */
export const importClient = (name: string) =>
  import(createRequire(new URL('../../../.ci/clients/', import.meta.url)).resolve(name));
