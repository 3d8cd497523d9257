import { ConfigError } from '../../config/index.ts';
import { readNamed } from '../../platform/regularFile/index.ts';

/** Maximum size of a file with secrets in bytes. A thousand keys fit easily. */
export const MAX_SECRET_BYTES = 256 * 1024;

/** Reads a file named by a variable such as FLOODGATE_API_TOKEN_FILE. Throws ConfigError. */
export function readSecretFile(name: string): string {
  try {
    return readNamed(name, MAX_SECRET_BYTES).toString();
  } catch (error) {
    throw new ConfigError(
      `the file ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
