import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** First major version of Node that runs TypeScript files and can share a UDP port, both without a flag. */
const FIRST_MAJOR = 24;

/** Reason why tests that need a newer Node are skipped. */
export const NO_NEWER_NODE = `Node ${FIRST_MAJOR} is not installed: run .ci/install-node, or set FLOODGATE_TEST_NODE to its path`;

/** Returns the path of a recent Node: `FLOODGATE_TEST_NODE`, the running one, or the one that `.ci/run` installs. */
export function newerNode(): string | undefined {
  const { FLOODGATE_TEST_NODE } = process.env;
  if (FLOODGATE_TEST_NODE) return FLOODGATE_TEST_NODE;
  if (Number(process.versions.node.split('.')[0]) >= FIRST_MAJOR) return process.execPath;
  return installedNode(FIRST_MAJOR);
}

/** Returns the path of the Node of this major version that `.ci/install-node` installed, or undefined. */
export function installedNode(major: number): string | undefined {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = major === FIRST_MAJOR ? 'node' : `node${major}`;
  const installed = join(caches, 'floodgate', folder, 'node_modules', 'node', 'bin', 'node');
  try {
    accessSync(installed, constants.X_OK);
    return installed;
  } catch {
    return undefined;
  }
}
