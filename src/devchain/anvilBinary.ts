import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** npm package of anvil. The binary for each platform is in a package whose name begins with this name. */
const PACKAGE = '@foundry-rs/anvil';

/** Name suffixes of the packages with the binaries, by platform and architecture as Node.js names them. */
const SYSTEMS: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-amd64',
  'linux-arm64': 'linux-arm64',
  'linux-x64': 'linux-amd64',
  'win32-x64': 'win32-amd64',
};

/** No anvil binary is available. The message tells the user how to install anvil, or how to use another node. */
export class NoAnvilError extends Error {
  override readonly name = 'NoAnvilError';
}

/** Returns the path of the anvil binary that npm installed for this platform. Throws NoAnvilError if npm has not. */
export function anvilBinary(system = `${process.platform}-${process.arch}`): string {
  const name = SYSTEMS[system];
  if (name === undefined)
    throw new NoAnvilError(
      `the development chain needs anvil, which is not published for ${system} (available: ${Object.keys(SYSTEMS).join(', ')}): use your own node with --upstream URL`,
    );
  const path = resolve(`${PACKAGE}-${name}/bin/${system.startsWith('win32') ? 'anvil.exe' : 'anvil'}`);
  if (path === undefined)
    throw new NoAnvilError(
      `the development chain needs anvil: install it next to Floodgate with \`npm install ${PACKAGE}\` (--global if Floodgate is global), ` +
        `run \`npx -p ./floodgate-VERSION.tgz -p ${PACKAGE} floodgate dev\` with the packed file, or use your own node with --upstream URL`,
    );
  return path;
}

/** Resolves a file from this package, then from @foundry-rs/anvil, where npm may nest the package of the binary. */
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
      // The package is not installed there.
    }
  }
  return undefined;
}
