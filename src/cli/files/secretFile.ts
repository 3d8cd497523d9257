import { closeSync, openSync, readSync } from 'node:fs';
import { ConfigError } from '../../config/index.ts';

/** Maximum size of a file in bytes, because the name may be that of an endless device. A thousand keys fit easily. */
const MAX_BYTES = 256 * 1024;

/** Reads a file named by a variable such as FLOODGATE_API_TOKEN_FILE. Throws ConfigError. */
export function readSecretFile(name: string): string {
  const room = Buffer.alloc(MAX_BYTES + 1);
  const bytes = readInto(room, name);
  if (bytes > MAX_BYTES) throw new ConfigError(`the file ${name} has more than ${MAX_BYTES} bytes`);
  return room.toString('utf8', 0, bytes);
}

function readInto(room: Buffer, name: string): number {
  try {
    const file = openSync(name, 'r');
    try {
      let bytes = 0;
      for (let read = -1; read !== 0 && bytes < room.length; bytes += read)
        read = readSync(file, room, bytes, room.length - bytes, null);
      return bytes;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new ConfigError(
      `the file ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
