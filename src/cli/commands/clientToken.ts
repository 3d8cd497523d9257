import { readFileSync } from 'node:fs';
import { OperatorError } from '../operatorError.ts';

/** The token of whoever types a command. The server reads none of these. */
const VARIABLE = 'FLOODGATE_TOKEN';
export const TOKEN_FILE_VARIABLE = 'FLOODGATE_TOKEN_FILE';
/** What the commands read before: the server's own token, which may do everything; see docs/rules-as-code.md. */
const OLD_VARIABLE = 'FLOODGATE_API_TOKEN';
const OLD_FILE_VARIABLE = 'FLOODGATE_API_TOKEN_FILE';

/** A text that came as a token, and where from, for messages. */
interface Found {
  readonly token: string;
  readonly source: string;
}

/**
 * The token for a command: from the file that is named, else from the variable, else, with a warning, from where it was
 * looked for before. The first of these that is set decides, also where it is empty: with another one in its place the
 * command would act as somebody else. Throws `OperatorError`, which never shows the token.
 */
export function readToken(file: string | undefined, environment: NodeJS.ProcessEnv = process.env): string {
  const { token, source } = findToken(file, environment);
  if (token === '')
    throw new OperatorError(
      `${source} is empty: set it to the API token, or unset it. \`floodgate token create\` makes one`,
    );
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new OperatorError(
      `The API token in ${source} has characters that a token cannot have; check how it was copied`,
    );
  return token;
}

function findToken(file: string | undefined, environment: NodeJS.ProcessEnv): Found {
  if (file !== undefined) return fromFile(file);
  const token = environment[VARIABLE];
  if (token !== undefined) return { token, source: VARIABLE };
  const oldFile = environment[OLD_FILE_VARIABLE];
  if (oldFile !== undefined && oldFile !== '') {
    warnOf(
      OLD_FILE_VARIABLE,
      TOKEN_FILE_VARIABLE,
      "the file of the server's own token, which may do everything",
    );
    return fromFile(oldFile);
  }
  const oldToken = environment[OLD_VARIABLE];
  if (oldToken !== undefined && oldToken !== '') {
    warnOf(OLD_VARIABLE, VARIABLE, "the name of the server's own token, which may do everything");
    return { token: oldToken, source: OLD_VARIABLE };
  }
  throw new OperatorError(
    `No API token: set ${VARIABLE}, or name a file with --token-file. \`floodgate token create\` makes one`,
  );
}

function fromFile(file: string): Found {
  try {
    return { token: readFileSync(file, 'utf8').trim(), source: file };
  } catch (error) {
    throw new OperatorError(
      `The token file cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function warnOf(old: string, name: string, meaning: string): void {
  process.stderr.write(`warning: the token comes from ${old}, ${meaning}; set ${name} instead\n`);
}
