import { readNamed } from '../../../platform/regularFile/index.ts';
import { MAX_SECRET_BYTES } from '../../files/secretFile.ts';
import { OperatorError } from '../../operatorError.ts';

/** Environment variable with the API token that commands send. The server does not read this variable. */
const VARIABLE = 'FLOODGATE_TOKEN';
export const TOKEN_FILE_VARIABLE = 'FLOODGATE_TOKEN_FILE';
/** Deprecated variable with the server's own token, which has all permissions; see docs/guides/rules-as-code.md. */
const OLD_VARIABLE = 'FLOODGATE_API_TOKEN';
const OLD_FILE_VARIABLE = 'FLOODGATE_API_TOKEN_FILE';

interface FoundToken {
  readonly token: string;
  readonly source: string;
}

/**
 * Returns the token from the named file, else from the variable, else, with a warning, from the deprecated variables;
 * undefined if none is set. If the file or the variable is empty, the next source is not used, because its token could
 * belong to another user. Throws `OperatorError`, whose message never contains the token.
 */
export function givenToken(
  file: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const found = findToken(file, environment);
  return found && checkedToken(found.token, found.source);
}

/** Returns a token that is not empty and has only valid characters. Throws `OperatorError`, which names the source. */
export function checkedToken(token: string, source: string): string {
  if (token === '')
    throw new OperatorError(
      `${source} is empty: set it to the API token, or unset it. \`floodgate token create\` creates one`,
    );
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new OperatorError(
      `The API token in ${source} has invalid characters; allowed: visible ASCII characters without spaces`,
    );
  return token;
}

function findToken(file: string | undefined, environment: NodeJS.ProcessEnv): FoundToken | undefined {
  if (file !== undefined) return fromFile(file);
  const token = environment[VARIABLE];
  if (token !== undefined) return { token, source: VARIABLE };
  const oldFile = environment[OLD_FILE_VARIABLE];
  if (oldFile !== undefined && oldFile !== '') {
    warnDeprecated(
      OLD_FILE_VARIABLE,
      TOKEN_FILE_VARIABLE,
      "the file of the server's own token, which has all permissions",
    );
    return fromFile(oldFile);
  }
  const oldToken = environment[OLD_VARIABLE];
  if (oldToken === undefined || oldToken === '') return undefined;
  warnDeprecated(OLD_VARIABLE, VARIABLE, "the variable of the server's own token, which has all permissions");
  return { token: oldToken, source: OLD_VARIABLE };
}

function fromFile(file: string): FoundToken {
  try {
    return { token: readNamed(file, MAX_SECRET_BYTES).toString().trim(), source: file };
  } catch (error) {
    throw new OperatorError(
      `The token file cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function warnDeprecated(old: string, name: string, meaning: string): void {
  process.stderr.write(`warning: the token was read from ${old}, ${meaning}; set ${name} instead\n`);
}
