import { closeSync, readSync } from 'node:fs';
import { openNamed } from './regularFile.ts';

/** Maximum size of a PEM file. The CA certificates of an operating system have 200 KiB. */
export const MAX_PEM_BYTES = 4 * 1024 * 1024;
const READ_BYTES = 64 * 1024;

/** Returns the content of a file that the operator names. Throws if it is too long, or of a kind that may block. */
export function readNamed(path: string, maxBytes: number): Buffer {
  const descriptor = openNamed(path);
  try {
    return readDescriptor(descriptor, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns what is left to read of an open file or pipe. Throws if it has more than `maxBytes`. */
export function readDescriptor(descriptor: number, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let left = maxBytes; ; ) {
    const part = Buffer.alloc(READ_BYTES);
    const length = readSync(descriptor, part);
    if (length === 0) return Buffer.concat(parts);
    left -= length;
    if (left < 0) throw new Error(`it has more than ${maxBytes} bytes`);
    parts.push(part.subarray(0, length));
  }
}
