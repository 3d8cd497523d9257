import {
  type Created,
  InvalidRule,
  isRuleId,
  plainObject,
  quoteText,
  type RecordStore,
} from '../../index.ts';
import { type EnvelopeEntry, type ResultInfo, successEnvelope } from '../http/envelope.ts';
import { ApiError } from '../http/errors.ts';
import {
  checkCollectionIfMatch,
  checkIfMatch,
  etagOf,
  etagOfBody,
  matchesIfNoneMatch,
} from '../http/etag.ts';
import { parseBody } from '../http/parseBody.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';

export type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** Handlers of the operations that rules, access lists and zone policies have in common. */
export interface CollectionHandlers {
  readonly list: Handler;
  readonly create: Handler;
  readonly read: Handler;
  readonly update: Handler;
  readonly remove: Handler;
  readonly removeAll: Handler;
}

export interface TaggedCollectionHandlers extends CollectionHandlers {
  /** Returns the ETag of an account's complete list, as `list` sends it. */
  readonly tag: (accountId: string) => Promise<string>;
}

interface Item {
  readonly id: string;
  readonly modified_on: string;
}

/** Store of the items of each account, and their format. `Changes` is the part of an item that a PATCH may change. */
export interface Collection<Key, T extends Item, Fields, Changes extends object> {
  readonly store: RecordStore<Key, T, Fields, Changes>;
  /** Returns the key of an account's items in the store. */
  readonly keyOf: (accountId: string) => Key;
  /** Returns the item id in the path of a request. */
  readonly idOf: (request: ApiRequest) => string;
  readonly page: (items: readonly T[], query: ApiRequest['query']) => { result: T[]; resultInfo: ResultInfo };
  /** Returns an item as a response shows it. Default: as it is stored. */
  readonly show?: (item: T) => object;
  /** Returns the item that a body defines. Throws `InvalidRule` with all faults. */
  readonly checkNew: (body: unknown) => Fields;
  /** Returns the changes that a body makes. Throws `InvalidRule` with all faults. */
  readonly checkPatch: (item: T, body: unknown) => Changes;
  /** Returns the retry key of a creation. Default: the header is ignored. */
  readonly retryKeyOf?: (request: ApiRequest) => string | undefined;
  readonly messagesOf?: (created: Created<T>) => readonly EnvelopeEntry[];
}

export function collectionHandlers<Key, T extends Item, Fields, Changes extends object>(
  collection: Collection<Key, T, Fields, Changes>,
): TaggedCollectionHandlers {
  const { store, keyOf, show = (item) => item } = collection;
  // Response bodies with all items of an account, by the array that the store returned. A body is cached while the
  // store keeps that array.
  const wholeLists = new WeakMap<readonly T[], TaggedBody>();

  const listBody = (items: readonly T[], query: ApiRequest['query']): TaggedBody => {
    const { result, resultInfo } = collection.page(items, query);
    return tagged(successEnvelope(result.map(show), { resultInfo }));
  };
  const wholeList = (items: readonly T[]): TaggedBody => {
    const body = wholeLists.get(items) ?? listBody(items, {});
    wholeLists.set(items, body);
    return body;
  };
  const responseOf = (item: T, headers = {}, messages: readonly EnvelopeEntry[] = []): ApiResponse => ({
    body: successEnvelope(show(item), { messages }),
    headers: { etag: etagOf(item), ...headers },
  });

  return {
    tag: async (accountId) => wholeList(await store.list(keyOf(accountId))).etag,

    async list({ accountId, query, headers }) {
      const items = await store.list(keyOf(accountId));
      const isWhole = Object.keys(query).length === 0;
      const { body, etag } = isWhole ? wholeList(items) : listBody(items, query);
      return { body, headers: { etag }, isNotModified: matchesIfNoneMatch(headers['if-none-match'], etag) };
    },

    async create(request) {
      const { accountId, actor } = request;
      const body = parseBody(request.body);
      const retryKey = collection.retryKeyOf?.(request);
      const created = await store.create(keyOf(accountId), collection.checkNew(body), { actor, retryKey });
      const headers = created.replayed ? { 'idempotent-replayed': 'true' } : {};
      return responseOf(created.item, headers, collection.messagesOf?.(created));
    },

    async read(request) {
      const item = await storedItem(collection, request);
      const isKnown = matchesIfNoneMatch(request.headers['if-none-match'], etagOf(item));
      return { ...responseOf(item), isNotModified: isKnown };
    },

    async update(request) {
      const stored = await storedItem(collection, request);
      const body = parseBody(request.body);
      const decide = (item: T) => {
        const changes = collection.checkPatch(item, body);
        checkIfMatch(request.headers['if-match'], item);
        return changes;
      };
      // The change is first checked without the store's write lock, so that an invalid or empty change never waits
      // for that lock.
      if (Object.keys(decide(stored)).length === 0) return responseOf(stored);
      const { accountId, actor } = request;
      const item = await store.update(keyOf(accountId), stored.id, { decide, actor });
      if (!item) throw notFound(request);
      return responseOf(item);
    },

    async remove(request) {
      const { id } = await storedItem(collection, request);
      const check = (item: T) => checkIfMatch(request.headers['if-match'], item);
      const { accountId, actor } = request;
      if (!(await store.delete(keyOf(accountId), id, { check, actor }))) throw notFound(request);
      return { body: successEnvelope() };
    },

    async removeAll(request) {
      checkCollectionIfMatch(request.headers['if-match']);
      refuseSelection(request.body);
      await store.deleteAll(keyOf(request.accountId), request.actor);
      return { body: successEnvelope() };
    },
  };
}

/** Rejects a body with members: a client that lists items in it expects that all others are kept. */
function refuseSelection(body: unknown): void {
  if (!Buffer.isBuffer(body) || body.length === 0) return;
  const members = Object.keys(plainObject(parseBody(body) ?? {}));
  if (members.length === 0) return;
  const message =
    'The body of a request that deletes all items must be empty; delete single items by the ids in their paths';
  throw new InvalidRule([{ message: `${message}; got ${quoteText(members.join(', '))}` }]);
}

/** Returns the item that the path of a request names. Throws `notFound` for an unknown or invalid id. */
export async function storedItem<Key, T>(
  { store, keyOf, idOf }: StoredItems<Key, T>,
  request: ApiRequest,
): Promise<T> {
  const id = idOf(request);
  const item = isRuleId(id) ? await store.get(keyOf(request.accountId), id.toLowerCase()) : undefined;
  if (item === undefined) throw notFound(request);
  return item;
}

interface StoredItems<Key, T> extends Pick<Collection<Key, never, unknown, object>, 'keyOf' | 'idOf'> {
  readonly store: { get(key: Key, id: string): Promise<T | undefined> };
}

interface TaggedBody {
  readonly body: Buffer;
  readonly etag: string;
}

function tagged(text: string): TaggedBody {
  const body = Buffer.from(text);
  return { body, etag: etagOfBody(body) };
}

/** Maximum number of characters of a request path that an error message quotes. */
const MAX_PATH_CHARACTERS = 256;

/** Returns the error for a request whose path contains an unknown id. */
export function notFound({ path }: { path: string }): ApiError {
  const shown = path.slice(0, MAX_PATH_CHARACTERS);
  return new ApiError('notFound', {
    message: `Could not route to ${shown}, perhaps your object identifier is invalid?`,
  });
}
