import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { Transport, type TransportResponse } from '../../../rules/client/index.ts';
import { OperatorError } from '../../operatorError.ts';
import { accessOf, defaultAccount, printWait, readFileName, readUrl } from '../rules/rulesConnection.ts';
import { TOKEN_FILE_VARIABLE } from './clientToken.ts';

const PAGE_SIZE = 1000;
/** Maximum number of pages to request, because the list of a faulty server may never end. */
const MAX_PAGES = 1000;

interface Result<T> {
  readonly result: T;
  /** Set if there is another page. */
  readonly cursor: string | undefined;
  readonly messages: readonly string[];
}

/** Adds `--url` and `--token-file` to a command that otherwise opens the data folder. */
export function addApiFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--url <url>',
        'base URL of the rules API of a server, which is used in place of the data folder',
      )
        .conflicts(['dataDir', 'config', 'rules.store'])
        .argParser(readUrl),
    )
    .addOption(
      new Option(
        '--token-file <file>',
        'with --url: file with the API token; overrides FLOODGATE_TOKEN and `floodgate login`',
      )
        .env(TOKEN_FILE_VARIABLE)
        .argParser(readFileName),
    );
}

/** Sends the requests of a command with `--url`. */
export class OperatorApi {
  readonly #transport: Transport;
  readonly #access: ReturnType<typeof accessOf>;

  private constructor(access: ReturnType<typeof accessOf>) {
    this.#access = access;
    this.#transport = new Transport({ baseUrl: access.url, token: access.token, onWait: printWait });
  }

  /** Returns undefined for a command without `--url`. */
  static of(command: Command): OperatorApi | undefined {
    if (command.opts<{ url?: string }>().url === undefined) return undefined;
    return new OperatorApi(accessOf(command));
  }

  /** Returns the account of a command without `--account`. */
  account(): Promise<string> {
    return defaultAccount(this.#access);
  }

  /** Returns all items of a list with page numbers. */
  async list<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let page = 1; page <= MAX_PAGES; page++) {
      const { result } = await this.get<T[]>(`${path}?page=${page}&per_page=${PAGE_SIZE}`);
      items.push(...result);
      if (result.length < PAGE_SIZE) break;
    }
    return items;
  }

  async get<T>(path: string): Promise<Result<T>> {
    return this.#read(await this.#transport.send('GET', path));
  }

  async create<T>(path: string, body: object): Promise<T> {
    const headers = { 'idempotency-key': randomUUID() };
    return this.#read<T>(await this.#transport.send('POST', path, { body, headers })).result;
  }

  async delete<T>(path: string): Promise<Result<T>> {
    return this.#read(await this.#transport.send('DELETE', path));
  }

  #read<T>({ envelope }: TransportResponse): Result<T> {
    const {
      result,
      result_info: info,
      messages,
    } = envelope as {
      readonly result?: T;
      readonly result_info?: { readonly cursor?: string };
      readonly messages?: readonly { readonly message: string }[];
    }; // the format of this server's version
    if (result === undefined)
      throw new OperatorError(
        `The response is not from a Floodgate server; check the URL ${this.#access.url}`,
      );
    return { result, cursor: info?.cursor, messages: (messages ?? []).map(({ message }) => message) };
  }
}
