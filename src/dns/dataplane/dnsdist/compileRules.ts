/** Compiles the detector's state to dnsdist rules with native selectors only, so no Lua code runs for a packet. */
import type { Network } from '../../../platform/addresses/index.ts';
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

export interface BucketSize {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** Zones to which the same settings and limit apply. */
export interface ZoneGroup {
  /** Distinguishes the groups. Empty for the names outside of zones with a policy. */
  readonly key: string;
  readonly mode: 'none' | 'monitoring' | 'enabled';
  /** Profile sensitivity, as a number (`profileLevel`). */
  readonly level: number;
  /** Limit that a policy sets, for all zones of the group together. */
  readonly limit: BucketSize | undefined;
}

export interface DnsdistState {
  /** Networks and names whose queries are allowed or denied before other rules are evaluated. */
  readonly accessLists: AccessLists;
  readonly groups: readonly ZoneGroup[];
  /** Zones with a policy, with the key of their group. A zone is before the zones that contain it. */
  readonly policies: readonly { readonly zone: string; readonly group: string }[];
  /**
   * Most frequent sets of query types with which names are known, as bits. From sensitivity `high` on, a query for a
   * known name with another type needs a token.
   */
  readonly typeCombinations: readonly number[];
  readonly busyNames: readonly string[];
  readonly limitAction: 'drop' | 'truncate';
  /** Maximum number of UDP queries of one client per second. 0: no limit. */
  readonly clientRatePerSecond: number;
  /** Token bucket for zones under attack. */
  readonly bucket: BucketSize;
  /** Token bucket for other zones. */
  readonly calmBucket: BucketSize;
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
    readonly group: string;
    /** Undefined until the zone has a baseline. Until then, all queries in the zone pass. */
    readonly limit: BucketSize | undefined;
  }[];
}

/**
 * Maximum number of sets of query types in the rules. Each set costs about 25 ns per query. Names with other, rarer
 * sets count as known with every type.
 */
export const MAX_TYPE_COMBINATIONS = 64;
/** Owners of the token buckets that do not belong to a zone. These strings cannot be zone names. */
const THE_ACCOUNT = '';
const THE_CALM = '=';
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
  const { accessLists, groups } = state;
  const isOff = groups.every(({ mode }) => mode === 'none');
  return rulesText(
    accessRulesOf(accessLists),
    isOff ? [] : [...groupTags(state), ...groups.flatMap((group) => protecting(state, group))],
  );
}

/** Tags queries with the group of their zone. The first rule that matches is that of the deepest zone. */
function groupTags({ policies }: DnsdistState): string[] {
  const isUntagged = not(tagged(TAG.group));
  const runs: { group: string; zones: string[] }[] = [];
  for (const { zone, group } of policies) {
    // Zones that follow each other share a rule, unless one contains the other: then the order does not matter either.
    const last = runs.at(-1);
    if (last?.group === group) last.zones.push(zone);
    else runs.push({ group, zones: [zone] });
  }
  return runs.map(({ group, zones }) =>
    rule('floodgate-group', setTag(TAG.group, group), all([isUntagged, inZones(zones)])),
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

/** Returns a selector of the queries of a group; none if there is only one group. */
const inGroup = ({ policies }: DnsdistState, { key }: ZoneGroup): RuleExpression[] =>
  policies.length === 0 ? [] : [key === '' ? not(tagged(TAG.group)) : tagged(TAG.group, key)];

function protecting(state: DnsdistState, group: ZoneGroup): string[] {
  const { level } = group;
  if (group.mode === 'none') return [];
  const here = inGroup(state, group);
  const typed = level >= profileLevel.high;
  const unknown = typed ? tagged(TAG.types, '') : UNKNOWN;
  // The first rule looks up the queried name in the file, so that all other rules can use the result.
  const before = typed
    ? [rule('floodgate-types', lookUp(TAG.types), all([...here, not(tagged(TAG.types))]))]
    : [];
  const byRate = state.zonesByRate.flatMap((zone) =>
    zone.group === group.key ? zoneByRate(state, group, { ...zone, unknown }) : [],
  );
  const beyondTypes = [
    ...(level >= profileLevel.very_high && state.busyNames.length > 0
      ? [paying('aboveUsual', [notPaying, ...here, amongNames(state.busyNames)])]
      : []),
    ...(typed ? unknownTypes(state, here) : []),
  ];
  return [
    ...before,
    ...byRate,
    ...unknownNames(state, { here, level, unknown }),
    ...beyondTypes,
    ...limits(state, group),
    ...clientLimit(state, group),
  ];
}

/** Rules for a zone that is judged by query rate. */
function zoneByRate(
  state: DnsdistState,
  group: ZoneGroup,
  {
    name,
    limit,
    unknown,
  }: { readonly name: string; readonly limit: BucketSize | undefined; readonly unknown: RuleExpression },
): string[] {
  const pays = paying('zoneRate', [notPaying, ...inGroup(state, group), inZones([name]), unknown]);
  if (limit === undefined || group.limit !== undefined) return [pays];
  const isBeyond = beyond(name, limit.ratePerSecond, limit.burst);
  return [pays, refusing(state, group)([tagged(TAG.pays, 'zoneRate'), inZones([name]), isBeyond])];
}

/** Rules that refuse queries for which there is no token. */
function limits(state: DnsdistState, group: ZoneGroup): string[] {
  const { bucket, calmBucket, attackedZones } = state;
  const refused = refusing(state, group);
  const here = inGroup(state, group);
  const paysHere = [tagged(TAG.pays), ...here, not(tagged(TAG.pays, 'accessList'))];
  if (group.limit !== undefined) {
    const { ratePerSecond, burst } = group.limit;
    return [refused([...paysHere, beyond(`${group.key} `, ratePerSecond, burst)])];
  }
  const typed = group.level >= profileLevel.high;
  const pays = [...paysHere, not(tagged(TAG.pays, 'zoneRate')), ...(typed ? [not(ofUnknownType)] : [])];
  const attacked = beyond(THE_ACCOUNT, bucket.ratePerSecond, bucket.burst);
  const calm = beyond(THE_CALM, calmBucket.ratePerSecond, calmBucket.burst);
  const typesBeyond = beyond(UNKNOWN_TYPES, calmBucket.ratePerSecond, calmBucket.burst);
  return [
    ...(typed ? [refused([...here, ofUnknownType, typesBeyond])] : []),
    ...(attackedZones.length > 0 ? [refused([...pays, inZones(attackedZones), attacked])] : []),
    refused([...pays, ...notIn(attackedZones), calm]),
  ];
}

/** Rules that truncate queries of clients above their rate. A retry over TCP then verifies the source address. */
function clientLimit(state: DnsdistState, group: ZoneGroup): string[] {
  const { clientRatePerSecond } = state;
  if (clientRatePerSecond === 0 || group.level === profileLevel.low) return [];
  const refused: Outcome = group.mode === 'enabled' ? 'truncated' : 'wouldDrop';
  const burst = clientRatePerSecond * CLIENT_BURST_SECONDS;
  const here = inGroup(state, group);
  return [
    paying('clientRate', [notPaying, ...here, clientBeyond(clientRatePerSecond, burst)]),
    rule('floodgate-refuses', setTag(TAG.refused, refused), all([...here, tagged(TAG.pays, 'clientRate')])),
  ];
}

const notPaying = not(tagged(TAG.pays));
const ofUnknownType = tagged(TAG.pays, 'unknownType');

const paying = (reason: Reason, selectors: readonly RuleExpression[]): string =>
  rule('floodgate-pays', setTag(TAG.pays, reason), all(selectors));

function refusing(
  { limitAction }: DnsdistState,
  { mode }: ZoneGroup,
): (selectors: readonly RuleExpression[]) => string {
  const refused: Outcome =
    mode !== 'enabled' ? 'wouldDrop' : limitAction === 'truncate' ? 'truncated' : 'dropped';
  return (selectors) => rule('floodgate-refuses', setTag(TAG.refused, refused), all(selectors));
}

const notIn = (zones: readonly string[]): RuleExpression[] => (zones.length > 0 ? [not(inZones(zones))] : []);

interface UnknownNames {
  /** Selects the queries of the group. */
  readonly here: readonly RuleExpression[];
  readonly level: number;
  readonly unknown: RuleExpression;
}

/** Rules for queries for unknown names, except in zones that are limited by rate. */
function unknownNames(state: DnsdistState, { here, level, unknown }: UnknownNames): string[] {
  const others = [
    notPaying,
    ...here,
    ...notIn(state.unseededZones),
    ...notIn(state.zonesByRate.map(({ name }) => name)),
  ];
  const pays = (...selectors: readonly RuleExpression[]): string =>
    paying('unknownName', [...others, ...selectors]);
  if (level !== profileLevel.low) return [pays(unknown)];
  const { zones, perSecond } = state.alarm;
  return [
    ...(state.attackedZones.length > 0 ? [pays(inZones(state.attackedZones), unknown)] : []),
    // This rule limits a flood from its first second, before Floodgate detects the attack.
    ...(zones.length > 0 ? [pays(inZones(zones), unknown, beyond(THE_ALARM, perSecond, perSecond))] : []),
  ];
}

/** Rules for queries for a known name with a query type with which this name is not known. */
function unknownTypes(
  { typeCombinations, unseededZones }: DnsdistState,
  here: readonly RuleExpression[],
): string[] {
  const combinations = typeCombinations.flatMap(unknownTypeOf);
  if (combinations.length === 0) return [];
  return [paying('unknownType', [notPaying, ...here, ...notIn(unseededZones), oneOf(combinations)])];
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
