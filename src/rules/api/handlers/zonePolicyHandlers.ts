import { checkNewZonePolicy, checkZonePolicyPatch, type ZonePolicyStore } from '../../index.ts';
import { pageOf, readPageRequest, zoneOrders } from '../http/paging.ts';
import { collectionHandlers, type TaggedCollectionHandlers } from './collectionHandlers.ts';
import { retryKeyOf } from './retryKey.ts';

export const zonePolicyHandlers = (store: ZonePolicyStore): TaggedCollectionHandlers =>
  collectionHandlers({
    store,
    retryKeyOf,
    keyOf: (accountId) => accountId,
    idOf: ({ zoneId }) => zoneId,
    page: (policies, query) => pageOf(policies, readPageRequest(query, zoneOrders)),
    checkNew: checkNewZonePolicy,
    checkPatch: checkZonePolicyPatch,
  });
