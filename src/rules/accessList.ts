import type { Static } from 'typebox';
import Type, { type TObject, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { BadNetworkError, parseNetwork } from '../platform/addresses/index.ts';
import { changeFault } from './format/changeFault.ts';
import { type MemberCheck, ObjectChecker, plainObject } from './format/objectChecker.ts';
import { plainText } from './format/plainText.ts';
import { describeValue, type Fault, InvalidRule, pointerTo } from './invalidRule.ts';

/** The access lists that each account has, with the action of the guard for a query that matches an entry. */
export const accessLists = { allowlist: 'allow', denylist: 'deny' } as const;
export type AccessListName = keyof typeof accessLists;

/** Maximum number of entries in one access list of an account. */
export const MAX_ENTRIES_PER_LIST = 1000;

const MAX_COMMENT_CHARACTERS = 256;
const closed = { additionalProperties: false };

const prefix = Type.String({
  pattern: '^[0-9A-Fa-f:.]{2,45}(?:/[0-9]{1,3})?$',
  description: 'Network or address of clients, such as 192.0.2.0/24, 2001:db8::/32 or 192.0.2.7.',
});
const name = Type.String({
  pattern: '^(?:[A-Za-z0-9_-]{1,63}\\.){0,31}[A-Za-z0-9_-]{1,63}\\.?$',
  maxLength: 253,
  description: 'Domain name; the entry also applies to all names below it.',
});
const settings = {
  comment: Type.String({
    maxLength: MAX_COMMENT_CHARACTERS,
    pattern: plainText(MAX_COMMENT_CHARACTERS),
    description: 'Reason for the entry.',
  }),
  enabled: Type.Boolean({ description: 'Whether the entry is in force.' }),
};
const stored = {
  created_on: Type.String({ format: 'date-time' }),
  modified_on: Type.String({ format: 'date-time' }),
};
const id = Type.String({ format: 'uuid', maxLength: 36, description: 'Set by the service.' });
const optional = {
  comment: Type.Optional(settings.comment),
  enabled: Type.Optional(settings.enabled),
};

/** Access list entry for a client network, in the form of Cloudflare's allowlist of Advanced TCP Protection. */
export const networkEntrySchema = Type.Object({ id, prefix, ...settings, ...stored }, closed);
/** Access list entry for a domain name. Cloudflare's API has no such entries. */
export const nameEntrySchema = Type.Object({ id, name, ...settings, ...stored }, closed);
export const newNetworkEntrySchema = Type.Object({ prefix, ...optional }, closed);
export const newNameEntrySchema = Type.Object({ name, ...optional }, closed);
/** A client may send a whole entry: members that are not settings are accepted with their stored value. */
export const entryPatchSchema = Type.Object(
  {
    ...optional,
    id: unchangeable(id),
    prefix: unchangeable(prefix),
    name: unchangeable(name),
    created_on: unchangeable(stored.created_on),
    modified_on: unchangeable(stored.modified_on),
  },
  closed,
);

export type AccessEntry = Readonly<Static<typeof networkEntrySchema> | Static<typeof nameEntrySchema>>;
export type EntrySettings = Readonly<Partial<Pick<AccessEntry, 'comment' | 'enabled'>>>;
export type NewAccessEntry = Required<EntrySettings> &
  ({ readonly prefix: string } | { readonly name: string });

const newNetworkEntry = checkerOf(newNetworkEntrySchema, { prefix: prefixFault });
const newNameEntry = checkerOf(newNameEntrySchema, { name: nameFault });
const entryPatch = new ObjectChecker<AccessEntry>(entryPatchSchema, {
  id: (value, { id }) => changeFault('id', id, value),
  prefix: (value, entry) => subjectFault('prefix', entry, value),
  name: (value, entry) => subjectFault('name', entry, value),
  created_on: (value, { created_on }) => changeFault('created_on', created_on, value),
  modified_on: (value, { modified_on }) => changeFault('modified_on', modified_on, value),
});

/** Returns the access list entry that a request body defines. Throws `InvalidRule` with all faults of the body. */
export function checkNewEntry(body: unknown): NewAccessEntry {
  const members = plainObject(body);
  const hasPrefix = Object.hasOwn(members, 'prefix');
  const hasName = Object.hasOwn(members, 'name');
  if (!hasPrefix && !hasName)
    throw new InvalidRule([{ pointer: '/prefix', message: 'prefix is required: set either prefix or name' }]);
  if (hasPrefix && hasName)
    throw new InvalidRule([
      { pointer: '/name', message: 'name cannot be combined with prefix: create one entry for each' },
    ]);
  const checker = hasPrefix ? newNetworkEntry : newNameEntry;
  refuse(checker.faultsOf(members));
  const entry = members as EntrySettings & ({ prefix: string } | { name: string }); // just checked against its schema
  const { comment = '', enabled = true, ...subject } = entry;
  return { ...subject, comment, enabled };
}

/** Returns only the settings of a stored entry that a request body changes. Throws `InvalidRule` with all faults. */
export function checkEntryPatch(entry: AccessEntry, body: unknown): EntrySettings {
  const members = plainObject(body);
  refuse(entryPatch.faultsOf(members, entry));
  const { comment, enabled } = members as EntrySettings; // just checked against its schema
  return {
    ...(comment !== undefined && comment !== entry.comment && { comment }),
    ...(enabled !== undefined && enabled !== entry.enabled && { enabled }),
  };
}

function checkerOf(
  schema: TObject,
  ownChecks: Readonly<Record<string, MemberCheck<void>>> = {},
): ObjectChecker {
  return new ObjectChecker(schema, ownChecks);
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new InvalidRule(faults);
}

function unchangeable(schema: TSchema) {
  return Type.Optional({
    ...schema,
    readOnly: true,
    description: 'Accepted only if it equals the stored value.',
  });
}

function subjectFault(member: 'prefix' | 'name', entry: AccessEntry, value: unknown): Fault | undefined {
  const subject: { readonly prefix?: string; readonly name?: string } = entry;
  const stored = subject[member];
  if (stored !== undefined) return changeFault(member, stored, value);
  const other = member === 'name' ? 'prefix' : 'name';
  return {
    pointer: pointerTo(member),
    message: `${member} cannot be added: the entry has a ${other}; omit it, or create another entry; got ${describeValue(value)}`,
  };
}

function nameFault(value: unknown): Fault | undefined {
  if (Value.Check(name, value)) return undefined;
  return {
    pointer: pointerTo('name'),
    message: `name must be a domain name such as example.com: labels of letters, digits, - and _, at most 253 characters; got ${describeValue(value)}`,
  };
}

function prefixFault(value: unknown): Fault | undefined {
  try {
    if (typeof value === 'string') return void parseNetwork(value);
  } catch (error) {
    if (!(error instanceof BadNetworkError)) throw error;
    return { pointer: pointerTo('prefix'), message: `prefix ${error.message}` };
  }
  return {
    pointer: pointerTo('prefix'),
    message: `prefix must be a network such as 192.0.2.0/24; got ${describeValue(value)}`,
  };
}
