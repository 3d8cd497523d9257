import { randomUUID } from 'node:crypto';
import { ApiFailure } from './apiFailure.ts';
import { checkedItemId } from './invalidId.ts';
import type { Transport, TransportResponse } from './transport.ts';

/** Item with its ETag; undefined if the server sends none. */
export interface StoredItem<Item> {
  readonly item: Item;
  readonly etag: string | undefined;
}

export interface CreatedItem<Item> {
  readonly item: Item;
  readonly messages: readonly string[];
  readonly replayed: boolean;
}

export interface CollectionOptions<Item, Changes> {
  readonly transport: Transport;
  readonly path: string;
  /** Name of an item's id in error messages. */
  readonly idName: 'ruleId' | 'zonePolicyId';
  /** Returns an item that the server sent, or undefined if it is none. */
  readonly read: (value: unknown) => Item | undefined;
  /** Returns the wanted changes that an item lacks. */
  readonly missing: (item: Item, wanted: Changes) => object;
}

/** Number of items to request per page: the maximum that all servers with this API support. */
const PAGE_SIZE = 1000;
/** Maximum number of pages to request, because the list of a faulty server may never end. */
const MAX_PAGES = 1000;

/** Rules or zone policies of one account. Throws `ApiFailure`, or `InvalidIdError` without sending an invalid id. */
export class Collection<Item extends { readonly id: string }, New, Changes> {
  readonly #options: CollectionOptions<Item, Changes>;

  constructor(options: CollectionOptions<Item, Changes>) {
    this.#options = options;
  }

  /** Returns all items of the account. Requests as many pages as needed. */
  async list(): Promise<Item[]> {
    const items = new Map<string, Item>();
    for (let page = 1; page <= MAX_PAGES; page++) {
      const answer = await this.#send('GET', `?page=${page}&per_page=${PAGE_SIZE}`);
      const known = items.size;
      for (const item of this.#readItems(answer)) items.set(item.id, item);
      // A server may return smaller pages than requested. So the list ends at the total that the server reports, or
      // at a page without a new item.
      if (items.size === known || items.size >= totalOf(answer)) break;
    }
    return [...items.values()];
  }

  async get(id: string): Promise<StoredItem<Item>> {
    const answer = await this.#send('GET', this.pathOf(id));
    return { item: this.#readItem(member(answer, 'result'), answer), etag: answer.etag };
  }

  /** Creates an item. If the idempotency key was used before, returns the item created then, with `replayed` set. */
  async create(item: New, key: string = randomUUID()): Promise<CreatedItem<Item>> {
    // With an idempotency key, the request can be repeated after a lost response without creating a second item.
    const answer = await this.#send('POST', '', { body: item, headers: { 'idempotency-key': key } });
    return {
      item: this.#readItem(member(answer, 'result'), answer),
      messages: messagesOf(answer),
      replayed: answer.replayed,
    };
  }

  /** Changes settings of an item. Fails with status 412 if the item's ETag is no longer `etag`. */
  async update(id: string, changes: Changes, etag?: string): Promise<Item> {
    try {
      const answer = await this.#send('PATCH', this.pathOf(id), { body: changes, headers: ifMatch(etag) });
      return this.#readItem(member(answer, 'result'), answer);
    } catch (error) {
      // If an earlier attempt made the change and its response was lost, the ETag differs and the retry fails with
      // 412.
      if (!(error instanceof ApiFailure && error.status === 412 && error.afterLostResponse)) throw error;
      const { item } = await this.get(id);
      if (Object.keys(this.#options.missing(item, changes)).length > 0) throw error;
      return item;
    }
  }

  async has(id: string): Promise<boolean> {
    try {
      await this.get(id);
      return true;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return false;
      throw error;
    }
  }

  async delete(id: string, etag?: string): Promise<void> {
    await this.#send('DELETE', this.pathOf(id), { headers: ifMatch(etag) });
  }

  async deleteAll(): Promise<void> {
    await this.#send('DELETE', '');
  }

  /** Returns the path of an item, relative to the collection. */
  pathOf(id: string): string {
    return `/${checkedItemId(this.#options.idName, id)}`;
  }

  #send(
    method: string,
    path: string,
    options?: Parameters<Transport['send']>[2],
  ): Promise<TransportResponse> {
    return this.#options.transport.send(method, `${this.#options.path}${path}`, options);
  }

  #readItems(answer: TransportResponse): Item[] {
    const result = member(answer, 'result');
    if (!Array.isArray(result)) throw unexpected(answer);
    return result.map((item) => this.#readItem(item, answer));
  }

  #readItem(value: unknown, answer: TransportResponse): Item {
    const item = this.#options.read(value);
    if (item === undefined) throw unexpected(answer);
    return item;
  }
}

function ifMatch(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { 'if-match': etag };
}

/** Returns the total number of items on all pages of a list; infinity if the server does not report it. */
export function totalOf(answer: TransportResponse): number {
  const info = member(answer, 'result_info');
  const total =
    typeof info === 'object' && info !== null && 'total_count' in info ? info.total_count : undefined;
  return typeof total === 'number' ? total : Number.POSITIVE_INFINITY;
}

function messagesOf(answer: TransportResponse): string[] {
  const messages = member(answer, 'messages');
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((entry) =>
    typeof entry === 'object' && entry !== null && 'message' in entry ? [String(entry.message)] : [],
  );
}

export function member({ envelope }: TransportResponse, name: string): unknown {
  return typeof envelope === 'object' && envelope !== null
    ? (envelope as Record<string, unknown>)[name]
    : undefined;
}

function unexpected({ request }: TransportResponse): ApiFailure {
  return new ApiFailure(`${request}: the response is not from a rules API; check the URL`);
}
