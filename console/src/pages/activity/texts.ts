import type { Change } from '../../api/types.ts';
import { scopeText } from '../rules/texts.ts';

/** Members that the server sets, so that they do not describe a change. */
const HIDDEN_MEMBERS: ReadonlySet<string> = new Set(['id', 'created_on', 'created_by', 'modified_on']);
const shortId = (id: string): string => id.slice(0, 8);

export interface Actor {
  readonly name: string;
  /** The kind of the actor and its id, which no label can imitate. */
  readonly note: string;
}

/** Returns the author of a change: the label of the token, or the user of a command. */
export function actorOf({ by, label }: { readonly by: string; readonly label?: string | undefined }): Actor {
  const [, kind, id = ''] = /^(cli|configured):(.*)$/s.exec(by) ?? [];
  if (kind === 'cli') return { name: id, note: 'command line' };
  if (kind === 'configured')
    return { name: label ?? 'API token of the server', note: `configured ${shortId(id)}` };
  const note = `token ${shortId(by)}`;
  return label === undefined ? { name: note, note: 'without a label' } : { name: label, note };
}

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  revoke: 'revoked',
  forget: 'let guards forget',
};
export const verbOf = ({ action }: Change): string => VERBS[action.split('.')[1] ?? ''] ?? action;

/** Returns the object of a change: `rule for region WEUR`, `denylist entry 192.0.2.0/24`, `policy for example.com`. */
export function subjectOf(change: Change): string {
  if (change.action === 'zone.forget') return `zone ${change.zone}`;
  if ('list' in change) {
    const entry = change.after ?? change.before;
    const value = entry === undefined ? change.entry : 'prefix' in entry ? entry.prefix : entry.name;
    return `${change.list} entry ${value}`;
  }
  if ('zone' in change) return `policy for ${change.zone}`;
  if ('token' in change) return `token ${(change.after ?? change.before)?.label || shortId(change.token)}`;
  if ('key' in change) return `API key ${(change.after ?? change.before)?.name ?? change.key}`;
  const rule = change.after ?? change.before;
  return `rule for ${rule === undefined ? change.rule : scopeText(rule)}`;
}

/** Returns the path of the page with the object of a change; undefined if the object was deleted. */
export function pathOfSubject(change: Change): string | undefined {
  if (change.action.endsWith('.delete')) return undefined;
  if ('token' in change || 'key' in change) return '/access';
  if ('list' in change) return `/lists/${change.list}/${change.entry}`;
  return 'policy' in change ? `/zones/${change.policy}` : `/rules/${change.rule}`;
}

export interface Difference {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export function differencesOf(change: Change): readonly Difference[] {
  if (change.action === 'zone.forget') return [];
  const before: Readonly<Record<string, unknown>> = { ...change.before };
  const after: Readonly<Record<string, unknown>> = { ...change.after };
  return Object.keys({ ...before, ...after })
    .map((name) => ({ name, before: textOf(before[name]), after: textOf(after[name]) }))
    .filter(({ name, before: old, after: now }) => !HIDDEN_MEMBERS.has(name) && old !== now);
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return undefined;
  if (value === null || value === '') return 'not set';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const KINDS = [
  ['', 'everything'],
  ['rule', 'rules'],
  ['list', 'access lists'],
  ['zone', 'zone policies'],
  ['token', 'tokens'],
  ['key', 'API keys'],
] as const;

export interface ChangeFilter {
  /** Kind of the changed object; empty for all kinds. */
  readonly kind: string;
  /** Text in the actor, its address or the object; empty for all. */
  readonly text: string;
}

export function isMatch(change: Change, { kind, text }: ChangeFilter): boolean {
  if (kind !== '' && !change.action.startsWith(`${kind}.`)) return false;
  const { name, note } = actorOf(change);
  return [name, note, change.by, change.from, verbOf(change), subjectOf(change)].some((part) =>
    part.toLowerCase().includes(text.toLowerCase()),
  );
}

export const CSV_HEADINGS = 'time (UTC),actor,actor id,from,action,object,before,after'.split(',');
export const csvRowOf = (change: Change): string[] => [
  change.at,
  actorOf(change).name,
  change.by,
  change.from,
  change.action,
  subjectOf(change),
  ...('before' in change && change.before ? [JSON.stringify(change.before)] : ['']),
  ...('after' in change && change.after ? [JSON.stringify(change.after)] : ['']),
];
