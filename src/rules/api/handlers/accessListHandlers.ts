import {
  type AccessEntry,
  type AccessListName,
  type AccessListStore,
  accessLists,
  checkEntryPatch,
  checkNewEntry,
  type EntrySettings,
} from '../../index.ts';
import { readPageRequest, slicePage } from '../http/paging.ts';
import type { AccessListHandlers } from '../routes/accessListRoutes.ts';
import { type CollectionHandlers, collectionHandlers } from './collectionHandlers.ts';

export function accessListHandlers(store: AccessListStore): AccessListHandlers {
  const names = Object.keys(accessLists) as AccessListName[]; // the names are the keys of the table
  const handlers = names.map((list) => [list, handlersOf(list, store)] as const);
  return Object.fromEntries(handlers) as AccessListHandlers; // has every name
}

function handlersOf(list: AccessListName, store: AccessListStore): CollectionHandlers {
  const keyOf = (accountId: string) => ({ accountId, list });
  return collectionHandlers<AccessEntry, EntrySettings>({
    idOf: ({ entryId }) => entryId,
    page: (entries, { page, per_page }) => slicePage(entries, readPageRequest({ page, per_page })),
    show: (entry) => entry,
    list: (accountId) => store.entries(keyOf(accountId)),
    get: (accountId, id) => store.get(keyOf(accountId), id),
    create: async ({ accountId, actor }, body) => ({
      item: await store.create(keyOf(accountId), checkNewEntry(body), actor),
    }),
    checkPatch: checkEntryPatch,
    update: ({ accountId, actor }, id, decide) => store.update(keyOf(accountId), id, { decide, actor }),
    delete: ({ accountId, actor }, id, check) => store.delete(keyOf(accountId), id, { check, actor }),
    deleteAll: ({ accountId, actor }) => store.deleteAll(keyOf(accountId), actor),
  });
}
