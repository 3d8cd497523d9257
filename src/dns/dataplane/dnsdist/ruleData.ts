/**
 * Writes dnsdist rules as data, which the Lua code of `rulesLoader.ts` reads. Each line is a rule of words separated
 * by spaces. Texts are written as hexadecimal digits, so that a name cannot become code.
 */
import { NAMES_NEEDED, RULES_HEAD } from './rulesLoader.ts';

/** A selector or an action in the syntax of the rule data. */
export type RuleExpression = string;

const hex = (text: string): string => (text === '' ? '-' : Buffer.from(text).toString('hex'));
const list = (items: readonly string[]): string => [items.length, ...items].join(' ');

/** Matches queries that all selectors match. They are evaluated in order until one of them does not match. */
export const all = (selectors: readonly RuleExpression[]): RuleExpression => `and ${list(selectors)}`;
export const oneOf = (selectors: readonly RuleExpression[]): RuleExpression => `or ${list(selectors)}`;
export const not = (selector: RuleExpression): RuleExpression => `not ${selector}`;
/** Matches queries for names that are not in the published file of known names. */
export const UNKNOWN: RuleExpression = 'unknown';
/** Matches queries for known names that their zone does not list. */
export const LEARNED: RuleExpression = 'learned';
/** Matches queries from networks that are in the published file of known networks. */
export const FROM_KNOWN_NETWORK: RuleExpression = 'network';
export const ofType = (type: number): RuleExpression => `type ${type}`;
/** Matches queries that have the tag `name` with this value. By default: with any value. */
export const tagged = (name: string, value?: string): RuleExpression =>
  `tagged ${hex(name)} ${value === undefined ? '*' : hex(value)}`;
/** Matches queries for names in any of these zones. An empty string is the root zone, which contains every name. */
export const inZones = (zones: readonly string[]): RuleExpression =>
  `zones ${list(zones.map((zone) => hex(zone === '' ? '.' : zone)))}`;
export const amongNames = (names: readonly string[]): RuleExpression => `names ${list(names.map(hex))}`;
/**
 * Matches if the token bucket of `owner`, such as a zone, is empty. Otherwise the query uses a token. When rules are
 * updated, a bucket keeps its tokens unless its rate or burst has changed.
 */
export const beyond = (owner: string, ratePerSecond: number, burst: number): RuleExpression =>
  `beyond ${hex(owner)} ${bounded(ratePerSecond)} ${bounded(burst)}`;

/** Matches queries from any of these networks, which have the form of `networkText`. */
export const fromNetworks = (networks: readonly string[]): RuleExpression =>
  `from ${list(networks.map(hex))}`;
/** Matches if the token bucket of the client is empty. A client is an IPv4 address or an IPv6 /64 network. */
export const clientBeyond = (ratePerSecond: number, burst: number): RuleExpression =>
  `client ${bounded(ratePerSecond)} ${bounded(burst)}`;

export const setTag = (name: string, value: string): RuleExpression => `tag ${hex(name)} ${hex(value)}`;
/** Sets the tag to the value that the file of known names has for the queried name. No effect on other names. */
export const lookUp = (tag: string): RuleExpression => `lookup ${hex(tag)}`;

export const rule = (name: string, action: RuleExpression, selector: RuleExpression): string =>
  `${hex(name)} ${action} ${selector}`;

/** Returns the text of all rules. Those in `always` are first: they apply over TCP too, and without known names. */
export const rulesText = (always: readonly string[], rules: readonly string[]): string =>
  `${[RULES_HEAD, ...always, NAMES_NEEDED, ...rules].join('\n')}\n`;

const MAX_UINT32 = 0xffffffff;
const bounded = (number: number): number => Math.min(MAX_UINT32, Math.max(1, Math.ceil(number)));
