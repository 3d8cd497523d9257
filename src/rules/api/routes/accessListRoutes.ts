import type { AccessListName } from '../../index.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import type { Route } from './route.ts';

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

export interface CollectionHandlers {
  readonly list: Handler;
  readonly create: Handler;
  readonly read: Handler;
  readonly update: Handler;
  readonly remove: Handler;
  readonly removeAll: Handler;
}

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
  const single = `${collection}/{entry_id}`;
  return [
    {
      method: 'GET',
      path: collection,
      operationId: `list${noun}`,
      summary: `List the ${list} of an account`,
      description: effect,
      permission: 'dns_protection:read',
      parameters: ['page', 'per_page', 'If-None-Match'],
      answer: 'AccessListAnswer',
      errors: ['notFound', 'invalid'],
      handle: handlers.list,
    },
    {
      method: 'POST',
      path: collection,
      operationId: `create${noun}Entry`,
      summary: `Add a network or a name to the ${list}`,
      description: effect,
      permission: 'dns_protection:write',
      body: 'AccessEntryCreation',
      answer: 'AccessEntryAnswer',
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'tooManyRules'],
      handle: handlers.create,
    },
    {
      method: 'DELETE',
      path: collection,
      operationId: `delete${noun}`,
      summary: `Delete all entries of the ${list}`,
      description:
        'Without a trailing slash only: with one, the id of an entry is missing, and nothing is deleted.',
      exactPath: true,
      permission: 'dns_protection:write',
      parameters: ['If-Match: *'],
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.removeAll,
    },
    {
      method: 'GET',
      path: single,
      operationId: `get${noun}Entry`,
      summary: `Read one entry of the ${list}`,
      permission: 'dns_protection:read',
      parameters: ['If-None-Match'],
      answer: 'AccessEntryAnswer',
      errors: ['notFound'],
      handle: handlers.read,
    },
    {
      method: 'PATCH',
      path: single,
      operationId: `update${noun}Entry`,
      summary: `Change the comment or the enabled flag of an entry of the ${list}`,
      permission: 'dns_protection:write',
      parameters: ['If-Match'],
      body: 'AccessEntryPatch',
      answer: 'AccessEntryAnswer',
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.update,
    },
    {
      method: 'DELETE',
      path: single,
      operationId: `delete${noun}Entry`,
      summary: `Delete an entry of the ${list}`,
      permission: 'dns_protection:write',
      parameters: ['If-Match'],
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.remove,
    },
  ];
}
