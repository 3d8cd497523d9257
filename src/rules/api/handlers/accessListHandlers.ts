import {
  type AccessListName,
  type AccessListStore,
  accessLists,
  checkEntryPatch,
  checkNewEntry,
} from '../../index.ts';
import { readPageRequest, slicePage } from '../http/paging.ts';
import type { AccessListHandlers } from '../routes/accessListRoutes.ts';
import { type CollectionHandlers, collectionHandlers } from './collectionHandlers.ts';

export function accessListHandlers(store: AccessListStore): AccessListHandlers {
  const names = Object.keys(accessLists) as AccessListName[]; // the names are the keys of the table
  const handlers = names.map((list) => [list, handlersOf(list, store)] as const);
  return Object.fromEntries(handlers) as AccessListHandlers; // has every name
}

const handlersOf = (list: AccessListName, store: AccessListStore): CollectionHandlers =>
  collectionHandlers({
    store,
    keyOf: (accountId) => ({ accountId, list }),
    idOf: ({ entryId }) => entryId,
    page: (entries, { page, per_page }) => slicePage(entries, readPageRequest({ page, per_page })),
    checkNew: checkNewEntry,
    checkPatch: checkEntryPatch,
  });
