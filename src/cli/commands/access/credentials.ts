import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createFolder } from '../../../platform/regularFile/index.ts';
import { OperatorError } from '../../operatorError.ts';

/** The server, token and account that `floodgate login` stores. */
export interface Credentials {
  /** Base URL of the rules API. The token is sent only to this URL. */
  readonly url: string;
  readonly token: string;
  /** Account of the commands without `--account`. */
  readonly account?: string;
}

const MODE = 0o600;
const OTHERS = 0o077;

/** Returns the path of the credentials: `$XDG_CONFIG_HOME/floodgate/credentials.json`. */
export function credentialsFile(environment: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME: folder } = environment;
  const base = folder && isAbsolute(folder) ? folder : join(homedir(), '.config');
  return join(base, 'floodgate', 'credentials.json');
}

/** Returns the stored credentials; undefined if there are none. Throws `OperatorError`. */
export function readCredentials(file = credentialsFile()): Credentials | undefined {
  try {
    const entry = lstatSync(file);
    if (!entry.isFile())
      throw new OperatorError(`${file} is not a regular file: delete it, and log in again`);
    if ((entry.mode & OTHERS) !== 0)
      throw new OperatorError(`${file} can be read by other users: use chmod 600, and replace the token`);
    return credentialsOf(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the stored credentials. The file is complete at any time, and only its owner can read it. */
export function writeCredentials(credentials: Credentials, file = credentialsFile()): void {
  createFolder(dirname(file), 0o700);
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(credentials, undefined, 2)}\n`, { mode: MODE, flag: 'wx' });
  try {
    chmodSync(next, MODE);
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

/** Deletes the credentials. Returns whether there were any. */
export function deleteCredentials(file = credentialsFile()): boolean {
  try {
    rmSync(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

function credentialsOf(text: string, file: string): Credentials {
  const { url, token, account } = parsed(text);
  if (
    typeof url !== 'string' ||
    typeof token !== 'string' ||
    !['string', 'undefined'].includes(typeof account)
  )
    throw new OperatorError(`${file} does not contain credentials: delete it, and log in again`);
  return { url, token, ...(typeof account === 'string' && { account }) };
}

function parsed(text: string): Partial<Record<keyof Credentials, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
