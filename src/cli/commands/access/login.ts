import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { OperatorError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import {
  accountOf,
  addAccountFlag,
  addServerFlags,
  currentToken,
  type ServerFlags,
  serverUrl,
} from '../rules/rulesConnection.ts';
import { printable } from '../rules/rulesTable.ts';
import { checkedToken, givenToken } from './clientToken.ts';
import { credentialsFile, deleteCredentials, writeCredentials } from './credentials.ts';

/** `floodgate login`: stores a server's URL, a token and an account for later commands. */
export function registerLogin(program: Command): void {
  addAccountFlag(
    addServerFlags(
      program
        .command('login')
        .description(
          'check an API token and store it, with the URL and the account, for later commands; reads the token from the terminal, or from standard input',
        ),
    ),
  ).action(async (flags: ServerFlags & { account?: string }, command: Command) => {
    const url = serverUrl(command);
    const token = givenToken(flags.tokenFile) ?? checkedToken(await readSecret(url), 'the input');
    const current = await currentToken({ url, token });
    const account = accountOf(current, flags.account);
    writeCredentials({ url, token, ...(account !== undefined && { account }) });
    const label = current.label === undefined ? '' : ` (${printable(current.label)})`;
    await print(
      `Logged in to ${url} with token ${printable(current.id)}${label}, ${account === undefined ? 'without an account: use --account' : `account ${printable(account)}`}`,
    );
    await print(`Stored in ${credentialsFile()}; \`floodgate logout\` deletes it.`);
  });
}

/** `floodgate logout`: deletes what `floodgate login` stored. */
export function registerLogout(program: Command): void {
  program
    .command('logout')
    .description('delete the stored token; it stays valid until it is revoked or expires')
    .action(async () => {
      await print(
        deleteCredentials()
          ? `Logged out: ${credentialsFile()} was deleted.`
          : 'Nothing is stored: `floodgate login` was not used.',
      );
    });
}

/** Reads the token from a terminal without showing it, or from standard input. */
async function readSecret(url: string): Promise<string> {
  if (!process.stdin.isTTY) {
    const token = (await text(process.stdin)).trim();
    if (token === '')
      throw new OperatorError(
        'Standard input is empty: it must contain the API token. `floodgate token create` creates one',
      );
    return token;
  }
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true });
  // The prompt follows the creation of the interface, which stops the terminal from showing input.
  process.stderr.write(`API token for ${url}: `);
  return new Promise((resolve, reject) => {
    lines.on('SIGINT', () => lines.close());
    lines.on('close', () => {
      process.stderr.write('\n');
      reject(new OperatorError('No token was entered; nothing was stored'));
    });
    lines.question('', (line) => {
      resolve(line.trim());
      lines.close();
    });
  });
}
