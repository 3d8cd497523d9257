import type { Command } from 'commander';
import { ApiFailure, Transport } from '../../../rules/client/index.ts';
import { OperatorError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { accessOf, addServerFlags, printWait } from '../rules/rulesConnection.ts';

/** `floodgate console`: prints a link that signs a browser in to the console of a server. */
export function registerConsole(program: Command): void {
  addServerFlags(
    program
      .command('console')
      .description('print a link that signs in to the console of a server, once within ten minutes'),
  ).action(async (_flags: object, command: Command) => {
    const { url, token } = accessOf(command);
    const baseUrl = url.replace(/\/client\/v4\/?$/, '');
    await print(`${baseUrl}/console/#code=${await newCode({ baseUrl, token })}`);
  });
}

async function newCode(server: { readonly baseUrl: string; readonly token: string }): Promise<string> {
  try {
    const { envelope } = await new Transport({ ...server, onWait: printWait }).send('POST', '/console/links');
    if (typeof envelope === 'object' && envelope !== null && 'code' in envelope) return String(envelope.code);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 404) throw error;
  }
  throw new OperatorError(
    `The server at ${server.baseUrl} has no console: set console.enabled there, or start it with --console-enabled`,
  );
}
