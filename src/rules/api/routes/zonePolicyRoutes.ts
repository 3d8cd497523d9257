import type { CollectionHandlers } from '../handlers/collectionHandlers.ts';
import { collectionRoutes } from './collectionRoutes.ts';
import type { Route } from './route.ts';

const EXTENSION = 'An extension of Floodgate: Cloudflare’s API has no such operation.';

/** Returns the routes of zone policies, next to those of rules. `family`: path segment after the account. */
export function zonePolicyRoutes(family: 'network' | 'magic', handlers: CollectionHandlers): Route[] {
  const collection = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/zones`;
  const suffix = family === 'network' ? '' : 'Magic';
  return collectionRoutes({
    collection,
    single: `${collection}/{zone_id}`,
    handlers,
    texts: {
      list: {
        operationId: `listZonePolicies${suffix}`,
        summary: 'List the zone policies of an account',
        description: EXTENSION,
      },
      create: {
        operationId: `createZonePolicy${suffix}`,
        summary: 'Create a policy for a zone',
        description: `It replaces the rule in force for the zone and the names below it, until a deeper zone with a policy. ${EXTENSION}`,
      },
      removeAll: {
        operationId: `deleteZonePolicies${suffix}`,
        summary: 'Delete all zone policies of an account',
        description: `Without a trailing slash only: with one, the id of a policy is missing, and nothing is deleted. ${EXTENSION}`,
      },
      read: {
        operationId: `getZonePolicy${suffix}`,
        summary: 'Read one zone policy',
        description: EXTENSION,
      },
      update: {
        operationId: `updateZonePolicy${suffix}`,
        summary: 'Change settings of a zone policy',
        description: `The zone cannot be changed. ${EXTENSION}`,
      },
      remove: {
        operationId: `deleteZonePolicy${suffix}`,
        summary: 'Delete a zone policy',
        description: EXTENSION,
      },
    },
    schemas: {
      creation: 'ZonePolicyCreation',
      patch: 'ZonePolicyPatch',
      item: 'ZonePolicyAnswer',
      items: 'ZonePolicyListAnswer',
    },
    listParameters: ['page', 'per_page', 'zones order', 'direction'],
    creation: { parameters: ['Idempotency-Key'], errors: ['zoneHasPolicy', 'keyReused'] },
  });
}
