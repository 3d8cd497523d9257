/** Calls for the access lists: networks and names that are allowed or denied before any rule applies. */
import { account } from '../session.ts';
import { pathOf } from './client.ts';
import { collection } from './collection.ts';
import type { Schemas } from './types.ts';

export type AccessEntry = Schemas['AccessEntry'];
export type AccessListName = 'allowlist' | 'denylist';
export type NewEntry = Schemas['AccessEntryCreation'];

const entriesOf = (list: AccessListName) =>
  collection<AccessEntry, NewEntry, Schemas['AccessEntryPatch']>(
    () => pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/${list}`,
  );

export const entryCalls = { allowlist: entriesOf('allowlist'), denylist: entriesOf('denylist') } as const;
