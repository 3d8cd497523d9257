import {
  checkNewZonePolicy,
  checkZonePolicyPatch,
  type ZonePolicy,
  type ZonePolicyChanges,
  type ZonePolicyStore,
} from '../../index.ts';
import { pageOf, readPageRequest, zoneOrders } from '../http/paging.ts';
import { collectionHandlers, type TaggedCollectionHandlers } from './collectionHandlers.ts';
import { retryKeyOf } from './retryKey.ts';

export function zonePolicyHandlers(store: ZonePolicyStore): TaggedCollectionHandlers {
  return collectionHandlers<ZonePolicy, ZonePolicyChanges>({
    idOf: ({ zoneId }) => zoneId,
    page: (policies, query) => pageOf(policies, readPageRequest(query, zoneOrders)),
    show: (policy) => policy,
    list: (accountId) => store.list(accountId),
    get: (accountId, id) => store.get(accountId, id),
    async create(request, body) {
      const { accountId, actor } = request;
      const retryKey = retryKeyOf(request);
      const created = await store.create(accountId, checkNewZonePolicy(body), { actor, retryKey });
      return { item: created.policy, replayed: created.replayed };
    },
    checkPatch: checkZonePolicyPatch,
    update: ({ accountId, actor }, id, decide) => store.update(accountId, id, { decide, actor }),
    delete: ({ accountId, actor }, id, check) => store.delete(accountId, id, { check, actor }),
    deleteAll: ({ accountId, actor }) => store.deleteAll(accountId, actor),
  });
}
