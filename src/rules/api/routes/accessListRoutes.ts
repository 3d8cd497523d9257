import type { AccessListName } from '../../index.ts';
import type { CollectionHandlers } from '../handlers/collectionHandlers.ts';
import { collectionRoutes } from './collectionRoutes.ts';
import type { Route } from './route.ts';

export type AccessListHandlers = Readonly<Record<AccessListName, CollectionHandlers>>;

const LISTS: Readonly<Record<AccessListName, { readonly noun: string; readonly effect: string }>> = {
  allowlist: { noun: 'Allowlist', effect: 'Matching queries pass, regardless of the rule in force.' },
  denylist: { noun: 'Denylist', effect: 'Matching queries are denied, regardless of the rule in force.' },
};

/** Returns the routes of access lists. Paths are as in Cloudflare's allowlist for TCP, but with the DNS prefix. */
export function accessListRoutes(handlers: AccessListHandlers): Route[] {
  return (['allowlist', 'denylist'] as const).flatMap((list) => routesOfList(list, handlers[list]));
}

function routesOfList(list: AccessListName, handlers: CollectionHandlers): Route[] {
  const { noun, effect } = LISTS[list];
  const collection = `/accounts/{account_id}/network/advanced_dns_protection/configs/${list}`;
  return collectionRoutes({
    collection,
    single: `${collection}/{entry_id}`,
    handlers,
    texts: {
      list: {
        operationId: `list${noun}`,
        summary: `List the ${list} of an account`,
        description: effect,
      },
      create: {
        operationId: `create${noun}Entry`,
        summary: `Add a network or a name to the ${list}`,
        description: effect,
      },
      removeAll: {
        operationId: `delete${noun}`,
        summary: `Delete all entries of the ${list}`,
        description:
          'Without a trailing slash only: with one, the id of an entry is missing, and nothing is deleted.',
      },
      read: { operationId: `get${noun}Entry`, summary: `Read one entry of the ${list}` },
      update: {
        operationId: `update${noun}Entry`,
        summary: `Change the comment or the enabled flag of an entry of the ${list}`,
      },
      remove: { operationId: `delete${noun}Entry`, summary: `Delete an entry of the ${list}` },
    },
    schemas: {
      creation: 'AccessEntryCreation',
      patch: 'AccessEntryPatch',
      item: 'AccessEntryAnswer',
      items: 'AccessListAnswer',
    },
    listParameters: ['page', 'per_page'],
    creation: { parameters: [], errors: [] },
  });
}
