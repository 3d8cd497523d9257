import { readFileSync } from 'node:fs';
import { root } from '../compile.js';

/** The folders that have a lock file. */
export const LOCKED = ['.', 'site', '.ci/client-generators', '.ci/cast', '.ci/clients'];

/** @type {(folder: string) => { packages: Record<string, Record<string, unknown>> }} */
export const readLock = (folder) => JSON.parse(readFileSync(`${root}${folder}/package-lock.json`, 'utf8'));

/**
 * Returns the paths of packages that npm downloads without verifying a hash. Packages in the tarball of another
 * (`inBundle`) are covered by its hash, and links are local.
 *
 * @type {(lock: ReturnType<typeof readLock>) => string[]}
 */
export const withoutHash = ({ packages }) =>
  Object.entries(packages)
    .filter(([path, { integrity, inBundle, link }]) => path !== '' && !integrity && !inBundle && !link)
    .map(([path]) => path);
