import { closeSync, openSync, readSync } from 'node:fs';
import { OperatorError } from '../operatorError.ts';

/** Far more than files of rules and options need. A device such as /dev/zero has no end. */
const MAX_BYTES = 16 * 1024 * 1024;
const READ_BYTES = 64 * 1024;

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
  const descriptor = file === '-' ? 0 : openSync(file, 'r');
  try {
    return strictText(bytesOf(descriptor));
  } finally {
    if (descriptor !== 0) closeSync(descriptor);
  }
}

function bytesOf(descriptor: number): Buffer {
  const parts: Buffer[] = [];
  for (let left = MAX_BYTES; ; ) {
    const part = Buffer.alloc(READ_BYTES);
    const length = readSync(descriptor, part);
    if (length === 0) return Buffer.concat(parts);
    left -= length;
    if (left < 0) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    parts.push(part.subarray(0, length));
  }
}

/** Decodes UTF-8. Throws an error for other encodings, because an unknown character would become another one. */
function strictText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8; save it in this encoding');
  }
}
