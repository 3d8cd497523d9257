import type { AccessListSource } from '../../dns/controller/index.ts';
import type { Access, AccessLists } from '../../dns/detector/index.ts';
import { parseNetwork } from '../../platform/addresses/index.ts';
import {
  type AccessEntry,
  type AccessListName,
  type AccessListStore,
  accessLists,
} from '../../rules/index.ts';

/** Returns the source from which the guard reads the enabled access list entries of an account. */
export const accessListsOf = (accountId: string, store: AccessListStore): AccessListSource => ({
  async read() {
    const names = Object.keys(accessLists) as AccessListName[]; // the keys of the table are the names
    const read = await Promise.all(
      names.map(async (list) => entriesOf(await store.list({ accountId, list }), accessLists[list])),
    );
    return {
      networks: read.flatMap(({ networks }) => networks),
      names: read.flatMap((one) => one.names),
    };
  },
  onChange: (listener) => store.onChange((changed) => changed === accountId && listener()),
});

function entriesOf(entries: readonly AccessEntry[], access: Access): AccessLists {
  const enabled = entries.filter((entry) => entry.enabled);
  return {
    networks: enabled.flatMap((entry) =>
      'prefix' in entry ? [{ network: parseNetwork(entry.prefix), access }] : [],
    ),
    names: enabled.flatMap((entry) => ('name' in entry ? [{ name: entry.name, access }] : [])),
  };
}
