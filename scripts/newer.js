// Modification times, to rebuild outputs only if an input changed.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the modification time of a file, or 0 if it does not exist. */
export const modifiedMs = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether `made` is newer than all sources. */
export function isNewer(made, sources) {
  const madeMs = modifiedMs(made);
  return sources.every((file) => modifiedMs(file) < madeMs);
}

/** Returns a folder and all files and folders in it. The time of a folder changes when a file in it is removed. */
export const allIn = (folder) => [
  folder,
  ...readdirSync(folder, { recursive: true }).map((file) => join(folder, file)),
];
