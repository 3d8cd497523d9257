/** Compiles the detector's state to dnsdist rules with native selectors only, so no Lua code runs for a packet. */
import type { Network } from '../../../platform/addresses/index.ts';
import { type AccessLists, type Outcome, profileLevel, type Reason } from '../../detector/index.ts';
import { haveOtherTypes, TYPES_WITH_BIT } from '../../protocol/index.ts';
import { accessRulesOf } from './accessRules.ts';
import type { DeepestZones } from './deepestZones.ts';
import { typesText } from './lookupFiles/knownNames.ts';
import { luaText } from './luaText.ts';
import { refusalRule, refusalsOf } from './refusals.ts';
import {
  all,
  amongNames,
  beyond,
  clientBeyond,
  FROM_KNOWN_NETWORK,
  inZones,
  LEARNED,
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
  /** All known zones. */
  readonly zones: DeepestZones;
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
  readonly zonesByRate: readonly ZoneByRate[];
  /** Token bucket of all zones that are limited by a learned rate together. */
  readonly ceiling: BucketSize;
}

export interface ZoneByRate {
  readonly name: string;
  readonly group: string;
  /** Token buckets for unknown and learned names. Undefined until the zone has a baseline: all queries then pass. */
  readonly limits: { readonly unknown: BucketSize; readonly learned: BucketSize } | undefined;
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
const THE_CEILING = '^';
/** Suffix of the owner of a bucket for learned names. No zone name contains a space. */
const OF_LEARNED = ' +';
/** Tokens for learned names in addition to the limit of a policy, as a share of it: the reserve of the embedded plane. */
const RESERVED_SHARE = 0.2;
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
   * Folder with the files of known names and networks. If undefined, dnsdist keeps those that it has. If it has none,
   * only access lists apply.
   */
  folder: string | undefined,
  /** Networks whose clients may transfer zones (AXFR, IXFR), over TCP only. */
  transfersAllow: readonly Network[],
): string {
  const refusals = refusalsOf(transfersAllow).map(refusalRule);
  return `${RULES_LOADER} floodgateApply({${refusals.join(',')}},${luaText(rules)},${folder === undefined ? 'nil' : luaText(folder)})`;
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
  const byRate = state.zonesByRate.filter((zone) => zone.group === group.key);
  const beyondTypes = [
    ...(level >= profileLevel.very_high && state.busyNames.length > 0
      ? [paying('aboveUsual', [notPaying, ...here, amongNames(state.busyNames)])]
      : []),
    ...(typed ? unknownTypes(state, here) : []),
  ];
  return [
    ...before,
    ...byRate.flatMap((zone) => zoneByRate(state, group, { ...zone, unknown })),
    ...ceilingRule(state, group, byRate),
    ...unknownNames(state, { here, level, unknown }),
    ...beyondTypes,
    ...limits(state, group, byRate.length > 0),
    ...(byRate.length > 0 ? knownNetworks(state, group) : []),
    ...clientLimit(state, group),
  ];
}

/** Rules for a zone that is judged by query rate. */
function zoneByRate(
  state: DnsdistState,
  group: ZoneGroup,
  { name, limits, unknown }: ZoneByRate & { readonly unknown: RuleExpression },
): string[] {
  const here = inGroup(state, group);
  const pays = paying('zoneRate', [notPaying, ...here, state.zones.among([name]), oneOf([unknown, LEARNED])]);
  if (limits === undefined || group.limit !== undefined) return [pays];
  const refused = refusing(state, group);
  const paysHere = [payingByRate, ...here, state.zones.among([name])];
  return [
    pays,
    refused([...paysHere, LEARNED, beyondSize(name + OF_LEARNED, limits.learned)]),
    refused([...paysHere, not(LEARNED), beyondSize(name, limits.unknown)]),
  ];
}

/** Rule for all zones together whose rate is learned. */
function ceilingRule(state: DnsdistState, group: ZoneGroup, byRate: readonly ZoneByRate[]): string[] {
  const limited = byRate.flatMap(({ name, limits }) => (limits === undefined ? [] : [name]));
  if (limited.length === 0 || group.limit !== undefined) return [];
  const passes = [
    payingByRate,
    not(tagged(TAG.refused)),
    ...inGroup(state, group),
    state.zones.among(limited),
  ];
  return [refusing(state, group)([...passes, beyondSize(THE_CEILING, state.ceiling)])];
}

/** Answers TC=1 instead of silence to known networks above the rate of a zone. */
function knownNetworks(state: DnsdistState, group: ZoneGroup): string[] {
  if (group.mode !== 'enabled' || state.limitAction === 'truncate') return [];
  const dropped = tagged(TAG.refused, 'dropped' satisfies Outcome);
  const truncated = setTag(TAG.refused, 'truncated' satisfies Outcome);
  const selectors = [payingByRate, dropped, ...inGroup(state, group), FROM_KNOWN_NETWORK];
  return [rule('floodgate-refuses', truncated, all(selectors))];
}

/** Rules that refuse queries for which there is no token. */
function limits(state: DnsdistState, group: ZoneGroup, hasRates: boolean): string[] {
  const { bucket, calmBucket, attackedZones } = state;
  const refused = refusing(state, group);
  const here = inGroup(state, group);
  const paysHere = [tagged(TAG.pays), ...here, not(tagged(TAG.pays, 'accessList'))];
  if (group.limit !== undefined) return policyLimit(group, group.limit, { paysHere, refused, hasRates });
  const typed = group.level >= profileLevel.high;
  const pays = [...paysHere, not(payingByRate), ...(typed ? [not(ofUnknownType)] : [])];
  const attacked = beyondSize(THE_ACCOUNT, bucket);
  const calm = beyondSize(THE_CALM, calmBucket);
  const typesBeyond = beyondSize(UNKNOWN_TYPES, calmBucket);
  return [
    ...(typed ? [refused([...here, ofUnknownType, typesBeyond])] : []),
    ...(attackedZones.length > 0 ? [refused([...pays, state.zones.among(attackedZones), attacked])] : []),
    refused([...pays, ...notIn(state, attackedZones), calm]),
  ];
}

interface PolicyRules {
  readonly paysHere: readonly RuleExpression[];
  readonly refused: (selectors: readonly RuleExpression[]) => string;
  /** Whether zones of the group are judged by query rate. */
  readonly hasRates: boolean;
}

/**
 * Rules for the limit that a policy sets. Learned names have a reserve, which a flood of unknown names cannot use up.
 */
function policyLimit(
  { key }: ZoneGroup,
  limit: BucketSize,
  { paysHere, refused, hasRates }: PolicyRules,
): string[] {
  const shared = beyondSize(`${key} `, limit);
  if (!hasRates) return [refused([...paysHere, shared])];
  const reserve = beyondSize(`${key}${OF_LEARNED}`, {
    ratePerSecond: limit.ratePerSecond * RESERVED_SHARE,
    burst: limit.burst * RESERVED_SHARE,
  });
  const ofLearned = all([payingByRate, LEARNED]);
  return [refused([...paysHere, not(ofLearned), shared]), refused([...paysHere, ofLearned, shared, reserve])];
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
const payingByRate = tagged(TAG.pays, 'zoneRate');
const ofUnknownType = tagged(TAG.pays, 'unknownType');

const beyondSize = (owner: string, { ratePerSecond, burst }: BucketSize): RuleExpression =>
  beyond(owner, ratePerSecond, burst);

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

const notIn = (state: DnsdistState, zones: readonly string[]): RuleExpression[] =>
  zones.length > 0 ? [not(state.zones.among(zones))] : [];

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
    ...notIn(state, state.unseededZones),
    ...notIn(
      state,
      state.zonesByRate.map(({ name }) => name),
    ),
  ];
  const pays = (...selectors: readonly RuleExpression[]): string =>
    paying('unknownName', [...others, ...selectors]);
  if (level !== profileLevel.low) return [pays(unknown)];
  const { zones, perSecond } = state.alarm;
  return [
    ...(state.attackedZones.length > 0 ? [pays(state.zones.among(state.attackedZones), unknown)] : []),
    // This rule limits a flood from its first second, before Floodgate detects the attack.
    ...(zones.length > 0
      ? [pays(state.zones.among(zones), unknown, beyond(THE_ALARM, perSecond, perSecond))]
      : []),
  ];
}

/** Rules for queries for a known name with a query type with which this name is not known. */
function unknownTypes(state: DnsdistState, here: readonly RuleExpression[]): string[] {
  const combinations = state.typeCombinations.flatMap(unknownTypeOf);
  if (combinations.length === 0) return [];
  return [
    paying('unknownType', [notPaying, ...here, ...notIn(state, state.unseededZones), oneOf(combinations)]),
  ];
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
