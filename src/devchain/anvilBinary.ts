import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The package that brings anvil, by one of its own for each system. */
const PACKAGE = '@foundry-rs/anvil';

/** The systems that anvil is published for, as those packages name them. */
const SYSTEMS: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-amd64',
  'linux-arm64': 'linux-arm64',
  'linux-x64': 'linux-amd64',
  'win32-x64': 'win32-amd64',
};

/** There is no anvil. The message says in one line how to get it, or how to do without. */
export class NoAnvilError extends Error {
  override readonly name = 'NoAnvilError';
}

/**
 * The path of anvil's binary, out of the package that npm installed for this system. Nothing is downloaded and no
 * install script is needed: the binary lies in that package.
 *
 * @throws NoAnvilError where there is none.
 */
export function anvilBinary(system = `${process.platform}-${process.arch}`): string {
  const name = SYSTEMS[system];
  if (name === undefined)
    throw new NoAnvilError(
      `the development chain needs anvil, which is not published for ${system} (there are: ${Object.keys(SYSTEMS).join(', ')}): name a node of your own with --upstream URL`,
    );
  const path = resolve(`${PACKAGE}-${name}/bin/${system.startsWith('win32') ? 'anvil.exe' : 'anvil'}`);
  if (path === undefined)
    throw new NoAnvilError(
      `the development chain needs anvil: install it beside Floodgate with \`npm install ${PACKAGE}\` (-g if Floodgate was), ` +
        `run \`npx -p floodgate -p ${PACKAGE} floodgate dev\`, or name a node of your own with --upstream URL`,
    );
  return path;
}

/** Where it lies for this package, or for the package of anvil beside it: npm puts it inside that one where that was installed by itself. */
function resolve(file: string): string | undefined {
  const beside = createRequire(import.meta.url);
  for (const find of [
    () => beside.resolve(file),
    () => createRequire(beside.resolve(`${PACKAGE}/package.json`)).resolve(file),
  ]) {
    try {
      const path = find();
      if (existsSync(path)) return path;
    } catch {
      // Not there.
    }
  }
  return undefined;
}
