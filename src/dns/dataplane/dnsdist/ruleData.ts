/**
 * Rules as data: a line each, of words with a space between. What it may say, `rulesLoader.ts` reads; texts are hexadecimal
 * digits, so that no name can be more than a name.
 */
import { NAMES_NEEDED, RULES_HEAD } from './rulesLoader.ts';

/** A selector or an action, in the words of the data. */
export type Words = string;

const hex = (text: string): string => (text === '' ? '-' : Buffer.from(text).toString('hex'));
const list = (items: readonly string[]): string => [items.length, ...items].join(' ');

/** Selectors are asked in their order and only as long as they hold. */
export const all = (selectors: readonly Words[]): Words => `and ${list(selectors)}`;
export const oneOf = (selectors: readonly Words[]): Words => `or ${list(selectors)}`;
export const not = (selector: Words): Words => `not ${selector}`;
/** The name is not among those that are published. */
export const UNKNOWN: Words = 'unknown';
export const ofType = (type: number): Words => `type ${type}`;
/** Any value of the tag where left out. */
export const tagged = (name: string, value?: string): Words =>
  `tagged ${hex(name)} ${value === undefined ? '*' : hex(value)}`;
/** The root is the zone of every name: it is how names outside the known zones are written. */
export const inZones = (zones: readonly string[]): Words =>
  `zones ${list(zones.map((zone) => hex(zone === '' ? '.' : zone)))}`;
export const amongNames = (names: readonly string[]): Words => `names ${list(names.map(hex))}`;
/** The bucket of this owner is empty; the query takes a token where it is not. It stays as full as it is while it has this size. */
export const beyond = (owner: string, ratePerSecond: number, burst: number): Words =>
  `beyond ${hex(owner)} ${bounded(ratePerSecond)} ${bounded(burst)}`;

/** These networks, each as `networkText` writes it. */
export const fromNetworks = (networks: readonly string[]): Words => `from ${list(networks.map(hex))}`;
/** A client (an IPv4 address, a /64) has no token left in the bucket that it has of its own. */
export const clientBeyond = (ratePerSecond: number, burst: number): Words =>
  `client ${bounded(ratePerSecond)} ${bounded(burst)}`;

export const tagIt = (name: string, value: string): Words => `tag ${hex(name)} ${hex(value)}`;
/** What stands under the name in the file becomes the tag's value; nothing where it is not there. */
export const lookUp = (tag: string): Words => `lookup ${hex(tag)}`;

export const rule = (name: string, action: Words, selector: Words): string =>
  `${hex(name)} ${action} ${selector}`;

/** The rules that hold always, also over TCP and where no names are known, and behind them all others. */
export const rulesText = (always: readonly string[], rules: readonly string[]): string =>
  `${[RULES_HEAD, ...always, NAMES_NEEDED, ...rules].join('\n')}\n`;

const MAX_UINT32 = 0xffffffff;
const bounded = (number: number): number => Math.min(MAX_UINT32, Math.max(1, Math.ceil(number)));
