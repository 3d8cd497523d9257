import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ApiFailure, Transport, type TransportResponse } from '../../../rules/client/index.ts';
import { readConfig } from '../../configFlags.ts';
import { OperatorError } from '../../operatorError.ts';
import { accessOf, addServerFlags, defaultAccount, printWait } from '../rules/rulesConnection.ts';
import { readCredentials } from './credentials.ts';
import { addRulesStoreFlags } from './tokenStorage.ts';

const PAGE_SIZE = 1000;
/** Maximum number of pages to request, because the list of a faulty server may never end. */
const MAX_PAGES = 1000;

interface Result<T> {
  readonly result: T;
  /** Set if there is another page. */
  readonly cursor: string | undefined;
  readonly messages: readonly string[];
}

/** Variables that select the data folder, or the database of the rules. */
const STORE_VARIABLES = ['FLOODGATE_DATA_DIR', 'FLOODGATE_CONFIG', 'FLOODGATE_RULES_STORE'];

/** Adds the flags of a command that uses the API of a server, or opens the store of the rules. */
export const addAccessFlags = (command: Command): Command =>
  addServerFlags(addRulesStoreFlags(command), 'the data folder');

/** Sends the requests of a command that uses the API. */
export class OperatorApi {
  readonly #transport: Transport;
  readonly #access: ReturnType<typeof accessOf>;

  private constructor(access: ReturnType<typeof accessOf>) {
    this.#access = access;
    this.#transport = new Transport({ baseUrl: access.url, token: access.token, onWait: printWait });
  }

  /**
   * Returns undefined if the command opens the store of the rules. Flags decide, then variables, then
   * `floodgate login`. Without a flag, prints the choice if there is another one.
   */
  static of(command: Command): OperatorApi | undefined {
    const flags = ['dataDir', 'config', 'rules.store'].filter((name) => command.opts()[name] !== undefined);
    const urlSource = command.getOptionValueSource('url');
    if (flags.length > 0) {
      if (urlSource === 'cli')
        command.error('error: --url cannot be used with --data-dir, --config or --rules-store');
      return undefined;
    }
    if (urlSource === 'cli') return new OperatorApi(accessOf(command));
    const url = command.opts<{ url?: string }>().url ?? readCredentials()?.url;
    if (url === undefined) return undefined;
    const api = `the API at ${url} (${urlSource === 'env' ? 'FLOODGATE_URL' : 'floodgate login'})`;
    const store = storeOf(command);
    const variable = STORE_VARIABLES.find((name) => process.env[name] !== undefined);
    if (variable !== undefined) {
      if (store) note(`${store} (${variable}), not ${api}`);
      return undefined;
    }
    if (store) note(`${api}, not ${store}`);
    return new OperatorApi(accessOf(command));
  }

  get url(): string {
    return this.#access.url;
  }

  /** Returns the account of a command without `--account`. */
  account(): Promise<string> {
    const account = process.env['FLOODGATE_ACCOUNT'] || this.#access.account;
    return defaultAccount({ ...this.#access, ...(account !== undefined && { account }) });
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

  /** Returns undefined if the object does not exist. */
  async delete<T>(path: string): Promise<Result<T> | undefined> {
    try {
      return this.#read(await this.#transport.send('DELETE', path));
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return undefined;
      throw error;
    }
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

function note(used: string): void {
  process.stderr.write(`Using ${used}.\n`);
}

/** Returns the store of the rules on this machine; undefined if there is none. */
function storeOf(command: Command): string | undefined {
  const { dataDir, rules } = readConfig(command);
  if (rules.store !== undefined) return 'the database in rules.store';
  return existsSync(join(dataDir, 'rules')) ? `the data folder ${resolve(dataDir)}` : undefined;
}
