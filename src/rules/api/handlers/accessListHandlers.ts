import {
  type AccessEntry,
  type AccessListName,
  type AccessListStore,
  accessLists,
  checkEntryPatch,
  checkNewEntry,
  isRuleId,
} from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import type { ApiError } from '../http/errors.ts';
import {
  checkCollectionIfMatch,
  checkIfMatch,
  etagOf,
  etagOfBody,
  matchesIfNoneMatch,
} from '../http/etag.ts';
import { readPageRequest, slicePage } from '../http/paging.ts';
import { parseBody } from '../http/parseBody.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import type { AccessListHandlers, CollectionHandlers } from '../routes/accessListRoutes.ts';
import { notFound } from './ruleHandlers.ts';

export function accessListHandlers(store: AccessListStore): AccessListHandlers {
  const names = Object.keys(accessLists) as AccessListName[]; // the names are the keys of the table
  const handlers = names.map((list) => [list, handlersOf(list, store)] as const);
  return Object.fromEntries(handlers) as AccessListHandlers; // has every name
}

function handlersOf(list: AccessListName, store: AccessListStore): CollectionHandlers {
  const keyOf = ({ accountId }: ApiRequest) => ({ accountId, list });
  const storedEntry = async (request: ApiRequest): Promise<AccessEntry> => {
    const id = request.entryId.toLowerCase();
    const entry = isRuleId(id) ? await store.get(keyOf(request), id) : undefined;
    if (!entry) throw missing(request);
    return entry;
  };
  return {
    async list(request) {
      const { page, per_page } = request.query;
      const { perPage, page: number } = readPageRequest({ page, per_page });
      const all = await store.entries(keyOf(request));
      const { result, resultInfo } = slicePage(all, { page: number, perPage });
      const body = Buffer.from(successEnvelope(result, { resultInfo }));
      const etag = etagOfBody(body);
      return {
        body,
        headers: { etag },
        isNotModified: matchesIfNoneMatch(request.headers['if-none-match'], etag),
      };
    },

    async create(request) {
      const entry = checkNewEntry(parseBody(request.body));
      return answerOf(await store.create(keyOf(request), entry, request.actor));
    },

    async read(request) {
      const entry = await storedEntry(request);
      const isKnown = matchesIfNoneMatch(request.headers['if-none-match'], etagOf(entry));
      return { ...answerOf(entry), isNotModified: isKnown };
    },

    async update(request) {
      const stored = await storedEntry(request);
      const body = parseBody(request.body);
      const decide = (entry: AccessEntry) => {
        const changes = checkEntryPatch(entry, body);
        checkIfMatch(request.headers['if-match'], entry);
        return changes;
      };
      // The change is first checked without the store's write lock, so that an invalid or empty change never waits
      // for that lock.
      if (Object.keys(decide(stored)).length === 0) return answerOf(stored);
      const entry = await store.update(keyOf(request), stored.id, { decide, actor: request.actor });
      if (!entry) throw missing(request);
      return answerOf(entry);
    },

    async remove(request) {
      const { id } = await storedEntry(request);
      const check = (entry: AccessEntry) => checkIfMatch(request.headers['if-match'], entry);
      if (!(await store.delete(keyOf(request), id, { check, actor: request.actor }))) throw missing(request);
      return { body: successEnvelope() };
    },

    async removeAll(request) {
      checkCollectionIfMatch(request.headers['if-match']);
      await store.deleteAll(keyOf(request), request.actor);
      return { body: successEnvelope() };
    },
  };
}

const answerOf = (entry: AccessEntry): ApiResponse => ({
  body: successEnvelope(entry),
  headers: { etag: etagOf(entry) },
});

const missing = (request: ApiRequest): ApiError => notFound(request);
