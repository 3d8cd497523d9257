import { readDescriptor, readNamed } from '../../platform/regularFile/index.ts';
import { OperatorError } from '../operatorError.ts';

/** Far more than files of rules and options need. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Returns the text of a UTF-8 file; `-` is standard input. Throws OperatorError, whose text starts with `option`. */
export function readTextFile(file: string, option?: string): string {
  try {
    return readText(file);
  } catch (error) {
    const named = option === undefined ? file : `${option}: ${file}`;
    throw new OperatorError(`${named} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Returns the text of a UTF-8 file of at most 16 MiB; `-` is standard input. Throws an error with the reason. */
export function readText(file: string): string {
  return strictText(file === '-' ? readDescriptor(0, MAX_BYTES) : readNamed(file, MAX_BYTES));
}

/** Decodes UTF-8. Throws an error for other encodings, because an unknown character would become another one. */
function strictText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8; save it in this encoding');
  }
}
