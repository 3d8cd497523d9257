/** Compiles the detector's state to dnsdist rules with native selectors only, so no Lua code runs for a packet. */
import type { Network } from '../../../platform/addresses/index.ts';
import type { Rule } from '../../../rules/index.ts';
import { type AccessLists, type Outcome, profileLevel, type Reason } from '../../detector/index.ts';
import { haveOtherTypes, TYPES_WITH_BIT } from '../../protocol/index.ts';
import { accessRulesOf } from './accessRules.ts';
import { typesText } from './knownNames.ts';
import { luaText } from './luaText.ts';
import { refusalRule, refusalsOf } from './refusals.ts';
import {
  all,
  amongNames,
  beyond,
  clientBeyond,
  inZones,
  lookUp,
  not,
  ofType,
  oneOf,
  type RuleExpression,
  rule,
  rulesText,
  setTag,
  tagged,
  UNKNOWN,
} from './ruleData.ts';
import { RULES_LOADER, TAG } from './rulesLoader.ts';

export interface DnsdistState {
  /** Networks and names whose queries are allowed or denied before other rules are evaluated. */
  readonly accessLists: AccessLists;
  readonly rule: Rule | undefined;
  /**
   * Most frequent sets of query types with which names are known, as bits. From sensitivity `high` on, a query for a
   * known name with another type needs a token.
   */
  readonly typeCombinations: readonly number[];
  readonly busyNames: readonly string[];
  readonly limitAction: 'drop' | 'truncate';
  /** Maximum number of UDP queries of one client per second. 0: no limit. */
  readonly clientRatePerSecond: number;
  readonly bucket: { readonly ratePerSecond: number; readonly burst: number };
  /** Zones under attack. At sensitivity `low`, queries for unknown names in these zones need tokens. */
  readonly attackedZones: readonly string[];
  /**
   * The highest of the alarm rates of `zones`: queries for unknown names per second. At sensitivity `low`, such
   * queries above this rate, counted in all these zones together, need a token.
   */
  readonly alarm: { readonly zones: readonly string[]; readonly perSecond: number };
  /** Zones whose seeding is not complete. No name in these zones counts as unknown. */
  readonly unseededZones: readonly string[];
  readonly zonesByRate: readonly {
    readonly name: string;
    /** Undefined until the zone has a baseline. Until then, all queries in the zone pass. */
    readonly limit: { readonly ratePerSecond: number; readonly burst: number } | undefined;
  }[];
}

/**
 * Maximum number of sets of query types in the rules. Each set costs about 25 ns per query. Names with other, rarer
 * sets count as known with every type.
 */
export const MAX_TYPE_COMBINATIONS = 64;
/** Owners of the token buckets that do not belong to a zone. These strings cannot be zone names. */
const THE_ACCOUNT = '';
const THE_ALARM = '!';
/**
 * Bucket of queries for unknown types of known names. It replaces the reserve of the embedded data plane: a flood of
 * unknown names must not use up the tokens of these queries.
 */
const UNKNOWN_TYPES = '?';
/** The burst of a client's token bucket is its rate times these seconds, as in the embedded data plane. */
const CLIENT_BURST_SECONDS = 5;

/** Returns the rules for a state as rule data (ruleData.ts). dnsdist reads the same data from a file at its start. */
export function compileRules(state: DnsdistState): string {
  const { rule: inForce, accessLists } = state;
  return rulesText(
    accessRulesOf(accessLists),
    inForce === undefined || inForce.mode === 'disabled' ? [] : protecting(state, inForce),
  );
}

/** Returns a console command that installs all rules. dnsdist replaces its list of rules atomically. */
export function commandOf(
  rules: string,
  /**
   * Path of the file with known names. If undefined, dnsdist keeps the names that it has. If it has none, only access
   * lists apply.
   */
  names: string | undefined,
  /** Networks whose clients may transfer zones (AXFR, IXFR), over TCP only. */
  transfersAllow: readonly Network[],
): string {
  const refusals = refusalsOf(transfersAllow).map(refusalRule);
  return `${RULES_LOADER} floodgateApply({${refusals.join(',')}},${luaText(rules)},${names === undefined ? 'nil' : luaText(names)})`;
}

function protecting(state: DnsdistState, inForce: Rule): string[] {
  const level = profileLevel[inForce.profile_sensitivity];
  const typed = level >= profileLevel.high;
  const unknown = typed ? tagged(TAG.types, '') : UNKNOWN;
  // The first rule looks up the queried name in the file, so that all other rules can use the result.
  const before = typed ? [rule('floodgate-types', lookUp(TAG.types), not(tagged(TAG.types)))] : [];
  const refused = refusing(state, inForce);
  const byRate = state.zonesByRate.flatMap(({ name, limit }) => {
    const pays = paying('zoneRate', [notPaying, inZones([name]), unknown]);
    if (limit === undefined) return [pays];
    const isBeyond = beyond(name, limit.ratePerSecond, limit.burst);
    return [pays, refused([tagged(TAG.pays, 'zoneRate'), inZones([name]), isBeyond])];
  });
  const beyondTypes = [
    ...(level >= profileLevel.very_high && state.busyNames.length > 0
      ? [paying('aboveUsual', [notPaying, amongNames(state.busyNames)])]
      : []),
    ...(typed ? unknownTypes(state) : []),
  ];
  const { ratePerSecond, burst } = state.bucket;
  return [
    ...before,
    ...byRate,
    ...unknownNames(state, inForce, unknown),
    ...beyondTypes,
    ...(typed ? [refused([ofUnknownType, beyond(UNKNOWN_TYPES, ratePerSecond, burst)])] : []),
    refused([
      tagged(TAG.pays),
      not(tagged(TAG.pays, 'zoneRate')),
      not(tagged(TAG.pays, 'accessList')),
      ...(typed ? [not(ofUnknownType)] : []),
      beyond(THE_ACCOUNT, ratePerSecond, burst),
    ]),
    ...clientLimit(state, inForce),
  ];
}

/** Rules that truncate queries of clients above their rate. A retry over TCP then verifies the source address. */
function clientLimit({ clientRatePerSecond }: DnsdistState, { mode }: Rule): string[] {
  if (clientRatePerSecond === 0) return [];
  const refused: Outcome = mode === 'enabled' ? 'truncated' : 'wouldDrop';
  const burst = clientRatePerSecond * CLIENT_BURST_SECONDS;
  return [
    paying('clientRate', [notPaying, clientBeyond(clientRatePerSecond, burst)]),
    rule('floodgate-refuses', setTag(TAG.refused, refused), tagged(TAG.pays, 'clientRate')),
  ];
}

const notPaying = not(tagged(TAG.pays));
const ofUnknownType = tagged(TAG.pays, 'unknownType');

const paying = (reason: Reason, selectors: readonly RuleExpression[]): string =>
  rule('floodgate-pays', setTag(TAG.pays, reason), all(selectors));

function refusing(
  { limitAction }: DnsdistState,
  { mode }: Rule,
): (selectors: readonly RuleExpression[]) => string {
  const refused: Outcome =
    mode !== 'enabled' ? 'wouldDrop' : limitAction === 'truncate' ? 'truncated' : 'dropped';
  return (selectors) => rule('floodgate-refuses', setTag(TAG.refused, refused), all(selectors));
}

const notIn = (zones: readonly string[]): RuleExpression[] => (zones.length > 0 ? [not(inZones(zones))] : []);

/** Rules for queries for unknown names, except in zones that are limited by rate. */
function unknownNames(state: DnsdistState, inForce: Rule, unknown: RuleExpression): string[] {
  const others = [
    notPaying,
    ...notIn(state.unseededZones),
    ...notIn(state.zonesByRate.map(({ name }) => name)),
  ];
  const pays = (...selectors: readonly RuleExpression[]): string =>
    paying('unknownName', [...others, ...selectors]);
  if (inForce.profile_sensitivity !== 'low') return [pays(unknown)];
  const { zones, perSecond } = state.alarm;
  return [
    ...(state.attackedZones.length > 0 ? [pays(inZones(state.attackedZones), unknown)] : []),
    // This rule limits a flood from its first second, before Floodgate detects the attack.
    ...(zones.length > 0 ? [pays(inZones(zones), unknown, beyond(THE_ALARM, perSecond, perSecond))] : []),
  ];
}

/** Rules for queries for a known name with a query type with which this name is not known. */
function unknownTypes({ typeCombinations, unseededZones }: DnsdistState): string[] {
  const combinations = typeCombinations.flatMap(unknownTypeOf);
  if (combinations.length === 0) return [];
  return [paying('unknownType', [notPaying, ...notIn(unseededZones), oneOf(combinations)])];
}

/**
 * Returns a selector of queries for names that are known with exactly these `types`, if the query has another type.
 * Returns no selector if `types` contains every type.
 */
function unknownTypeOf(types: number): RuleExpression[] {
  const isOther = haveOtherTypes(types);
  // Rare query types share one bit of `types`. If this bit is set, all rare types are known, and the unknown types
  // are those that have their own bit, which is not set.
  const listed = TYPES_WITH_BIT.filter(([, bit]) => ((types & bit) !== 0) !== isOther).map(([type]) =>
    ofType(type),
  );
  const known = tagged(TAG.types, typesText(types));
  if (listed.length === 0) return isOther ? [] : [known];
  return [all([known, isOther ? oneOf(listed) : not(oneOf(listed))])];
}
