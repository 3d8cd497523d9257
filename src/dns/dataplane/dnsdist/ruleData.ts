/**
 * dnsdist rules as data for `rulesLoader.ts`: each line is a rule, and spaces separate its words. Strings are written
 * as hexadecimal digits, so that a name cannot become code.
 */
import { NAMES_NEEDED, RULES_HEAD } from './rulesLoader.ts';

/** A selector or an action in the syntax of the rule data. */
export type RuleExpression = string;

const hex = (text: string): string => (text === '' ? '-' : Buffer.from(text).toString('hex'));
const list = (items: readonly string[]): string => [items.length, ...items].join(' ');

/** Matches if all selectors match. They are evaluated in order until one does not match. */
export const all = (selectors: readonly RuleExpression[]): RuleExpression => `and ${list(selectors)}`;
export const oneOf = (selectors: readonly RuleExpression[]): RuleExpression => `or ${list(selectors)}`;
export const not = (selector: RuleExpression): RuleExpression => `not ${selector}`;
/** Matches queries for names that are not in the published file of known names. */
export const UNKNOWN: RuleExpression = 'unknown';
export const ofType = (type: number): RuleExpression => `type ${type}`;
/** Matches queries that have the tag `name` with this value, or with any value by default. */
export const tagged = (name: string, value?: string): RuleExpression =>
  `tagged ${hex(name)} ${value === undefined ? '*' : hex(value)}`;
/** Matches queries for names in any of these zones. The root zone is an empty string and matches every name. */
export const inZones = (zones: readonly string[]): RuleExpression =>
  `zones ${list(zones.map((zone) => hex(zone === '' ? '.' : zone)))}`;
export const amongNames = (names: readonly string[]): RuleExpression => `names ${list(names.map(hex))}`;
/**
 * Matches if the token bucket of `owner` (such as a zone) is empty; otherwise the query consumes a token. A bucket
 * keeps its tokens when rules are updated, unless its rate or burst changes.
 */
export const beyond = (owner: string, ratePerSecond: number, burst: number): RuleExpression =>
  `beyond ${hex(owner)} ${bounded(ratePerSecond)} ${bounded(burst)}`;

/** Each network has the form of `networkText`. */
export const fromNetworks = (networks: readonly string[]): RuleExpression =>
  `from ${list(networks.map(hex))}`;
/** Matches if the client's token bucket is empty. A client is an IPv4 address or an IPv6 /64. */
export const clientBeyond = (ratePerSecond: number, burst: number): RuleExpression =>
  `client ${bounded(ratePerSecond)} ${bounded(burst)}`;

export const setTag = (name: string, value: string): RuleExpression => `tag ${hex(name)} ${hex(value)}`;
/** Sets the tag to the value of the queried name in the published file. Does nothing if the file lacks the name. */
export const lookUp = (tag: string): RuleExpression => `lookup ${hex(tag)}`;

export const rule = (name: string, action: RuleExpression, selector: RuleExpression): string =>
  `${hex(name)} ${action} ${selector}`;

/** Rules in `always` come first. They also apply to TCP queries, and while no names are known. */
export const rulesText = (always: readonly string[], rules: readonly string[]): string =>
  `${[RULES_HEAD, ...always, NAMES_NEEDED, ...rules].join('\n')}\n`;

const MAX_UINT32 = 0xffffffff;
const bounded = (number: number): number => Math.min(MAX_UINT32, Math.max(1, Math.ceil(number)));
