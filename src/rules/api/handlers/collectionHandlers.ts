import { isRuleId } from '../../index.ts';
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

export interface CreatedItem<T> {
  readonly item: T;
  readonly messages?: readonly EnvelopeEntry[];
  /** Whether an earlier request with the same `Idempotency-Key` created the item. */
  readonly replayed?: boolean;
}

/** Store of the items of each account, and their format. `Changes` is the part of an item that a PATCH may change. */
export interface Collection<T extends Item, Changes extends object> {
  /** Returns the item id in the path of a request. */
  readonly idOf: (request: ApiRequest) => string;
  readonly page: (items: readonly T[], query: ApiRequest['query']) => { result: T[]; resultInfo: ResultInfo };
  /** Returns an item as a response shows it. */
  readonly show: (item: T) => object;
  readonly list: (accountId: string) => Promise<readonly T[]>;
  readonly get: (accountId: string, id: string) => Promise<T | undefined>;
  readonly create: (request: ApiRequest, body: unknown) => Promise<CreatedItem<T>>;
  /** Returns the changes that a body makes. Throws `InvalidRule` with all faults. */
  readonly checkPatch: (item: T, body: unknown) => Changes;
  readonly update: (request: ApiRequest, id: string, decide: (item: T) => Changes) => Promise<T | undefined>;
  readonly delete: (request: ApiRequest, id: string, check: (item: T) => void) => Promise<boolean>;
  readonly deleteAll: (request: ApiRequest) => Promise<number>;
}

export function collectionHandlers<T extends Item, Changes extends object>(
  collection: Collection<T, Changes>,
): TaggedCollectionHandlers {
  const { list, show } = collection;
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
  const responseOf = ({ item, messages = [], replayed = false }: CreatedItem<T>): ApiResponse => ({
    body: successEnvelope(show(item), { messages }),
    headers: { etag: etagOf(item), ...(replayed && { 'idempotent-replayed': 'true' }) },
  });

  return {
    tag: async (accountId) => wholeList(await list(accountId)).etag,

    async list({ accountId, query, headers }) {
      const items = await list(accountId);
      const isWhole = Object.keys(query).length === 0;
      const { body, etag } = isWhole ? wholeList(items) : listBody(items, query);
      return { body, headers: { etag }, isNotModified: matchesIfNoneMatch(headers['if-none-match'], etag) };
    },

    async create(request) {
      return responseOf(await collection.create(request, parseBody(request.body)));
    },

    async read(request) {
      const item = await storedItem(collection, request);
      const isKnown = matchesIfNoneMatch(request.headers['if-none-match'], etagOf(item));
      return { ...responseOf({ item }), isNotModified: isKnown };
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
      if (Object.keys(decide(stored)).length === 0) return responseOf({ item: stored });
      const item = await collection.update(request, stored.id, decide);
      if (!item) throw notFound(request);
      return responseOf({ item });
    },

    async remove(request) {
      const { id } = await storedItem(collection, request);
      const check = (item: T) => checkIfMatch(request.headers['if-match'], item);
      if (!(await collection.delete(request, id, check))) throw notFound(request);
      return { body: successEnvelope() };
    },

    async removeAll(request) {
      checkCollectionIfMatch(request.headers['if-match']);
      await collection.deleteAll(request);
      return { body: successEnvelope() };
    },
  };
}

/** Returns the item that the path of a request names. Throws `notFound` for an unknown or invalid id. */
export async function storedItem<T>(
  {
    idOf,
    get,
  }: { readonly idOf: (request: ApiRequest) => string } & {
    readonly get: (accountId: string, id: string) => Promise<T | undefined>;
  },
  request: ApiRequest,
): Promise<T> {
  const id = idOf(request);
  const item = isRuleId(id) ? await get(request.accountId, id.toLowerCase()) : undefined;
  if (item === undefined) throw notFound(request);
  return item;
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
