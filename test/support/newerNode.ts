import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The first line of Node that runs TypeScript as it is and can share a UDP port, both without a flag. */
const FIRST_MAJOR = 24;

/** Why a test that needs a newer Node is skipped. */
export const NO_NEWER_NODE = `Node ${FIRST_MAJOR} is not there: run .ci/install-node, or set FLOODGATE_TEST_NODE to its path`;

/** The path of a Node that is new enough: `FLOODGATE_TEST_NODE`, this one, or the one that `.ci/run` installs. */
export function newerNode(): string | undefined {
  const { FLOODGATE_TEST_NODE } = process.env;
  if (FLOODGATE_TEST_NODE) return FLOODGATE_TEST_NODE;
  if (Number(process.versions.node.split('.')[0]) >= FIRST_MAJOR) return process.execPath;
  return installedNode(FIRST_MAJOR);
}

/** The path of the Node of a line that `.ci/install-node` installed, if it did. */
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
