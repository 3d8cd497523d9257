// What is made anew only where something that it is made of has changed since.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** When a file was written; 0 where there is none. */
export const modifiedMs = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether a file was made after all of these were last changed. */
export function isNewer(made, sources) {
  const madeMs = modifiedMs(made);
  return sources.every((file) => modifiedMs(file) < madeMs);
}

/** A folder with all that is in it. Folders too: their time tells of what was removed. */
export const allIn = (folder) => [
  folder,
  ...readdirSync(folder, { recursive: true }).map((file) => join(folder, file)),
];
