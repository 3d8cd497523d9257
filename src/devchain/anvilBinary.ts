import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The systems that anvil is published for, as its packages name them. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
};

/**
 * The path of anvil's binary, out of the package that npm installed for this system. Nothing is downloaded and no
 * install script is needed: the binary lies in that package.
 *
 * @throws Error that says what to install where there is none.
 */
export function anvilBinary(system = `${process.platform}-${process.arch}`): string {
  const name = PACKAGES[system];
  if (name === undefined)
    throw new Error(
      `The development chain needs anvil, which is not published for ${system} (there are: ${Object.keys(PACKAGES).join(', ')}). Point Floodgate at a node of your own with --upstream URL.`,
    );
  const file = system.startsWith('win32') ? 'anvil.exe' : 'anvil';
  const path = resolve(`${name}/bin/${file}`);
  if (path === undefined)
    throw new Error(
      `The development chain needs anvil, and the package ${name} is not installed. Run \`npm ci\` (without --omit=dev and --omit=optional), or point Floodgate at a node of your own with --upstream URL.`,
    );
  return path;
}

function resolve(request: string): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve(request);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
