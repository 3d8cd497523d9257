import { readFileSync } from 'node:fs';
import { OperatorError } from '../operatorError.ts';

/** Returns the text of a UTF-8 file; `-` is standard input. Throws OperatorError, which starts with `option` if given. */
export function readTextFile(file: string, option?: string): string {
  try {
    return strictText(readFileSync(file === '-' ? 0 : file));
  } catch (error) {
    const named = option === undefined ? file : `${option}: ${file}`;
    throw new OperatorError(`${named} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Decodes UTF-8. Throws an error for other encodings, because an unknown character would become another one. */
export function strictText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8; save it in this encoding');
  }
}
