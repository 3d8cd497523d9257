import { dictionaryNumber, type TraceEnvironment } from './environment.ts';

/** Names of the records of the database `meta`, without the dictionaries. */
export const SINGLES = [
  'chain',
  'dictionary',
  'finalized',
  'head',
  'history-hash-key',
  'history-segments',
  'on-demand',
  'state',
  'unavailable',
  'unmerged',
] as const;

export type Single = (typeof SINGLES)[number];

export const isSingle = (name: string): name is Single => (SINGLES as readonly string[]).includes(name);

/** Returns whether the database `meta` has an unknown name: a damaged key, whose record is missing. */
export const hasUnknownSingle = ({ meta }: TraceEnvironment): boolean =>
  [...meta.getKeys()]
    .map((key) => Buffer.from(key).toString())
    .some((name) => !isSingle(name) && dictionaryNumber(name) === undefined);
