import type { CollectionHandlers } from '../handlers/collectionHandlers.ts';
import type { Route } from './route.ts';

type Operation = keyof CollectionHandlers;
type Texts = Pick<Route, 'operationId' | 'summary' | 'description'>;

export interface CollectionOfRoutes {
  /** Path of the collection, and of a single item. */
  readonly collection: string;
  readonly single: string;
  readonly handlers: CollectionHandlers;
  readonly texts: Readonly<Record<Operation, Texts>>;
  readonly schemas: Readonly<Record<'creation' | 'patch' | 'item' | 'items', NonNullable<Route['answer']>>>;
  readonly listParameters: Route['parameters'];
  /** Parameters and errors of a creation, in addition to those of every creation. */
  readonly creation: Required<Pick<Route, 'parameters' | 'errors'>>;
}

/** Returns the routes to list, create, read, change and delete the items of a collection. */
export function collectionRoutes(of: CollectionOfRoutes): Route[] {
  const { collection, single, handlers, texts, schemas, listParameters, creation } = of;
  const read = { permission: 'dns_protection:read' } as const;
  const write = { permission: 'dns_protection:write' } as const;
  return [
    {
      method: 'GET',
      path: collection,
      ...texts.list,
      ...read,
      parameters: [...(listParameters ?? []), 'If-None-Match'],
      answer: schemas.items,
      errors: ['notFound', 'invalid'],
      handle: handlers.list,
    },
    {
      method: 'POST',
      path: collection,
      ...texts.create,
      ...write,
      ...(creation.parameters.length > 0 && { parameters: creation.parameters }),
      body: schemas.creation,
      answer: schemas.item,
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'tooManyRules', ...creation.errors],
      handle: handlers.create,
    },
    {
      method: 'DELETE',
      path: collection,
      ...texts.removeAll,
      exactPath: true,
      ...write,
      parameters: ['If-Match: *'],
      answer: 'DoneAnswer',
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.removeAll,
    },
    {
      method: 'GET',
      path: single,
      ...texts.read,
      ...read,
      parameters: ['If-None-Match'],
      answer: schemas.item,
      errors: ['notFound'],
      handle: handlers.read,
    },
    {
      method: 'PATCH',
      path: single,
      ...texts.update,
      ...write,
      parameters: ['If-Match'],
      body: schemas.patch,
      answer: schemas.item,
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.update,
    },
    {
      method: 'DELETE',
      path: single,
      ...texts.remove,
      ...write,
      parameters: ['If-Match'],
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.remove,
    },
  ];
}
