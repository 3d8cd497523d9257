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
  /** Networks and names whose queries are allowed or denied before any other rule is evaluated. */
  readonly accessLists: AccessLists;
  readonly rule: Rule | undefined;
  /** Sets of query types of known names, as bits. From sensitivity `high` on, they reveal queries for other types. */
  readonly typeCombinations: readonly number[];
  readonly busyNames: readonly string[];
  readonly limitAction: 'drop' | 'truncate';
  /** Maximum UDP queries per second of one client; 0 means no limit. */
  readonly clientRatePerSecond: number;
  readonly bucket: { readonly ratePerSecond: number; readonly burst: number };
  /** Zones under attack. At sensitivity `low`, their queries for unknown names need rate-limit tokens. */
  readonly attackedZones: readonly string[];
  /**
   * Lowest rate of queries for unknown names that may be an attack. At sensitivity `low`, queries above this rate
   * need a rate-limit token.
   */
  readonly alarm: { readonly zones: readonly string[]; readonly perSecond: number };
  /** Zones whose seeding is not complete, so their names do not count as unknown yet. */
  readonly unseededZones: readonly string[];
  readonly zonesByRate: readonly {
    readonly name: string;
    /** Undefined until the zone has a baseline; until then, every query passes. */
    readonly limit: { readonly ratePerSecond: number; readonly burst: number } | undefined;
  }[];
}

/**
 * Maximum number of type sets in the rules. Each set costs about 25 ns per query. Names with rarer sets count as
 * known with every type.
 */
export const MAX_TYPE_COMBINATIONS = 64;
/** Owners of token buckets that do not belong to a zone. Neither is a valid zone name. */
const THE_ACCOUNT = '';
const THE_ALARM = '!';
/** The burst of the client limit is its rate times these seconds, as in the embedded data plane. */
const CLIENT_BURST_SECONDS = 5;

/** Returns the state as rule data (ruleData.ts), which dnsdist also loads if it restarts while Floodgate is down. */
export function compileRules(state: DnsdistState): string {
  const { rule: inForce, accessLists } = state;
  return rulesText(
    accessRulesOf(accessLists),
    inForce === undefined || inForce.mode === 'disabled' ? [] : protecting(state, inForce),
  );
}

/** Returns one console command that installs all rules. dnsdist replaces its rule list atomically. */
export function commandOf(
  rules: string,
  /**
   * Path of the file with known names. If undefined, dnsdist keeps the names it has; without names, it limits nothing.
   */
  names: string | undefined,
  /** Networks whose clients may transfer zones, over TCP only. */
  transfersAllow: readonly Network[],
): string {
  const refusals = refusalsOf(transfersAllow).map(refusalRule);
  return `${RULES_LOADER} floodgateApply({${refusals.join(',')}},${luaText(rules)},${names === undefined ? 'nil' : luaText(names)})`;
}

function protecting(state: DnsdistState, inForce: Rule): string[] {
  const level = profileLevel[inForce.profile_sensitivity];
  const typed = level >= profileLevel.high;
  const unknown = typed ? tagged(TAG.types, '') : UNKNOWN;
  // Looks up the name in the file once for all rules.
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
    refused([
      tagged(TAG.pays),
      not(tagged(TAG.pays, 'zoneRate')),
      not(tagged(TAG.pays, 'accessList')),
      beyond(THE_ACCOUNT, ratePerSecond, burst),
    ]),
    ...clientLimit(state, inForce),
  ];
}

/** Makes clients above their rate retry over TCP, which verifies the source address. */
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

/** Rules for queries for unknown names. Skips zones that are already limited by rate. */
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
    // Limits a flood from its first second, before Floodgate detects the attack.
    ...(zones.length > 0 ? [pays(inZones(zones), unknown, beyond(THE_ALARM, perSecond, perSecond))] : []),
  ];
}

/** Rules for queries that ask for a known name with a type for which the name is not known. */
function unknownTypes({ typeCombinations, unseededZones }: DnsdistState): string[] {
  const combinations = typeCombinations.flatMap(unknownTypeOf);
  if (combinations.length === 0) return [];
  return [paying('unknownType', [notPaying, ...notIn(unseededZones), oneOf(combinations)])];
}

/** Selects queries for a name known with exactly these types, but with another type. Empty if all types are known. */
function unknownTypeOf(types: number): RuleExpression[] {
  const isOther = haveOtherTypes(types);
  // If the shared bit is set, all types without a bit of their own are known. Then only types that have their own bit
  // can be unknown: those whose bit is not set.
  const listed = TYPES_WITH_BIT.filter(([, bit]) => ((types & bit) !== 0) !== isOther).map(([type]) =>
    ofType(type),
  );
  const known = tagged(TAG.types, typesText(types));
  if (listed.length === 0) return isOther ? [] : [known];
  return [all([known, isOther ? oneOf(listed) : not(oneOf(listed))])];
}
