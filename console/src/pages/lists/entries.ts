import { counted } from '../../ui/value/quantity.tsx';

export const listNames = ['denylist', 'allowlist'] as const satisfies readonly AccessListName[];

export const listTexts: Readonly<Record<AccessListName, { readonly past: string; readonly effect: string }>> =
  {
    denylist: {
      past: 'denied',
      effect: 'Queries over UDP are dropped, queries over TCP are answered REFUSED, in every mode.',
    },
    allowlist: {
      past: 'allowed',
      effect: 'Queries pass in every mode. The source of a UDP packet can be forged.',
    },
  };

/** Consequence of the deletion of an entry. */
export const DELETED =
  'From the next query on, the rule in force applies to it. You can undo this for 10 seconds.';

export const entryValue = (entry: Schemas['AccessEntryCreation'] | AccessEntry): string =>
  'prefix' in entry ? entry.prefix : entry.name;

export const isNetwork = (text: string): boolean => text.includes(':') || /^[\d./]+$/.test(text);

export const newEntryOf = (text: string, comment: string): Schemas['AccessEntryCreation'] =>
  isNetwork(text) ? { prefix: text, comment } : { name: text, comment };

/** Names that an access list can contain. Names of limited queries may be patterns, such as `[a-z]{8}.example.com`. */
const NAME = /^(?:[a-z0-9_-]{1,63}\.){0,31}[a-z0-9_-]{1,63}\.?$/i;
export const isListableName = (text: string): boolean => text.length <= 253 && NAME.test(text);

/** Returns an entry in force for the same network or name; undefined if there is none. */
export const sameEntry = (entries: readonly AccessEntry[], text: string): AccessEntry | undefined => {
  const bare = (value: string) => value.toLowerCase().replace(/\.$/, '');
  return entries.find((entry) => entry.enabled && bare(entryValue(entry)) === bare(text));
};

type Listed = AccessEntry & { readonly list: AccessListName };

/** Returns a text such as `Denied: 2 networks, 1 name. Allowed: nothing.` */
export function listsHeadline(entries: readonly Listed[]): string {
  const countIn = (list: AccessListName) => {
    const inForce = entries.filter((entry) => entry.list === list && entry.enabled);
    const networks = inForce.filter((entry) => 'prefix' in entry).length;
    const names = inForce.length - networks;
    const counts = [networks && counted(networks, 'network'), names && counted(names, 'name')];
    return counts.filter(Boolean).join(', ') || 'nothing';
  };
  return `Denied: ${countIn('denylist')}. Allowed: ${countIn('allowlist')}.`;
}

import type { AccessEntry, AccessListName, Schemas } from '../../api/types.ts';
