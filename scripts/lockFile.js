// What this repository asks of its lock files.
import { readFileSync } from 'node:fs';
import { root } from './compile.js';

/** The folders that have one. */
export const LOCKED = ['.', 'site', '.ci/client-generators', '.ci/cast'];

/** @type {(folder: string) => { packages: Record<string, Record<string, unknown>> }} */
export const readLock = (folder) => JSON.parse(readFileSync(`${root}${folder}/package-lock.json`, 'utf8'));

/**
 * The paths of packages that npm downloads without a hash to compare them with. What lies in another one's tarball (`inBundle`) is under the
 * hash of that one, and a link is nothing that comes from elsewhere.
 *
 * @type {(lock: ReturnType<typeof readLock>) => string[]}
 */
export const withoutHash = ({ packages }) =>
  Object.entries(packages)
    .filter(([path, { integrity, inBundle, link }]) => path !== '' && !integrity && !inBundle && !link)
    .map(([path]) => path);
