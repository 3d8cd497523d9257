/** What is wanted of dnsdist as rules that it carries out by itself: native selectors only, no Lua runs for a packet. */
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
  rule,
  rulesText,
  tagged,
  tagIt,
  UNKNOWN,
  type Words,
} from './ruleData.ts';
import { RULES_LOADER, TAG } from './rulesLoader.ts';

export interface DnsdistState {
  /** What passes, and what is refused, before any rule is looked at. */
  readonly accessLists: AccessLists;
  readonly rule: Rule | undefined;
  /** The combinations of types with which names are known, as bits: what sensitivity `high` tells known types by. */
  readonly typeCombinations: readonly number[];
  /** Known names that are beyond their usual rate now. */
  readonly busyNames: readonly string[];
  readonly refuseWith: 'drop' | 'truncate';
  /** Queries a second over UDP of one client; 0 for no limit. */
  readonly clientRatePerSecond: number;
  readonly bucket: { readonly ratePerSecond: number; readonly burst: number };
  /** Zones under attack: at sensitivity `low` their unknown names pay, all of them. */
  readonly attackedZones: readonly string[];
  /** Zones whose names are known, and the unknown names a second from which they may be under attack: beyond these they pay at `low`. */
  readonly alarm: { readonly zones: readonly string[]; readonly perSecond: number };
  /** Zones whose names are still being read: no name of theirs is unknown yet. */
  readonly unseededZones: readonly string[];
  readonly zonesByRate: readonly {
    readonly name: string;
    readonly ratePerSecond: number;
    readonly burst: number;
  }[];
}

/**
 * So many combinations of types are told apart, at some 25 ns a query each: those of most names. A name with a rarer one is
 * known with every type.
 */
export const MAX_TYPE_COMBINATIONS = 64;
/** Whose bucket it is: the account's has a name that no zone has, and so has that of the alarm. */
const THE_ACCOUNT = '';
const THE_ALARM = '!';
/** As long as the window in which the embedded guard counts. */
const CLIENT_BURST_SECONDS = 5;

/** The state as data: a file of it is what a dnsdist goes by that was started anew while Floodgate is away. */
export function compileRules(state: DnsdistState): string {
  const { rule: inForce, accessLists } = state;
  return rulesText(
    accessRulesOf(accessLists),
    inForce === undefined || inForce.mode === 'disabled' ? [] : protecting(state, inForce),
  );
}

/** One console command that puts rules in force, whole: dnsdist swaps its rule list at once. */
export function commandOf(
  rules: string,
  /** Where the names are that are known; undefined while none are published: then dnsdist keeps the names that it has, and a dnsdist that has none refuses nothing. */
  names: string | undefined,
  /** Who may transfer zones, over TCP. */
  transfersAllow: readonly Network[],
): string {
  const refusals = refusalsOf(transfersAllow).map(refusalRule);
  return `${RULES_LOADER} floodgateApply({${refusals.join(',')}},${luaText(rules)},${names === undefined ? 'nil' : luaText(names)})`;
}

function protecting(state: DnsdistState, inForce: Rule): string[] {
  const level = profileLevel[inForce.profile_sensitivity];
  const typed = level >= profileLevel.high;
  const unknown = typed ? tagged(TAG.types, '') : UNKNOWN;
  // One look into the file for all rules.
  const before = typed ? [rule('floodgate-types', lookUp(TAG.types), not(tagged(TAG.types)))] : [];
  const refused = refusing(state, inForce);
  const byRate = state.zonesByRate.flatMap(({ name, ratePerSecond, burst }) => [
    paying('zoneRate', [notPaying, inZones([name]), unknown]),
    refused([tagged(TAG.pays, 'zoneRate'), inZones([name]), beyond(name, ratePerSecond, burst)]),
  ]);
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

/** What need not pay, from a client that asks too much: it is sent to TCP, where it is known for who it is. */
function clientLimit({ clientRatePerSecond }: DnsdistState, { mode }: Rule): string[] {
  if (clientRatePerSecond === 0) return [];
  const refused: Outcome = mode === 'enabled' ? 'truncated' : 'wouldDrop';
  const burst = clientRatePerSecond * CLIENT_BURST_SECONDS;
  return [
    paying('clientRate', [notPaying, clientBeyond(clientRatePerSecond, burst)]),
    rule('floodgate-refuses', tagIt(TAG.refused, refused), tagged(TAG.pays, 'clientRate')),
  ];
}

const notPaying = not(tagged(TAG.pays));

const paying = (reason: Reason, selectors: readonly Words[]): string =>
  rule('floodgate-pays', tagIt(TAG.pays, reason), all(selectors));

function refusing({ refuseWith }: DnsdistState, { mode }: Rule): (selectors: readonly Words[]) => string {
  const refused: Outcome =
    mode !== 'enabled' ? 'wouldDrop' : refuseWith === 'truncate' ? 'truncated' : 'dropped';
  return (selectors) => rule('floodgate-refuses', tagIt(TAG.refused, refused), all(selectors));
}

const notIn = (zones: readonly string[]): Words[] => (zones.length > 0 ? [not(inZones(zones))] : []);

/** Those that are judged by rate pay there. */
function unknownNames(state: DnsdistState, inForce: Rule, unknown: Words): string[] {
  const others = [
    notPaying,
    ...notIn(state.unseededZones),
    ...notIn(state.zonesByRate.map(({ name }) => name)),
  ];
  const pays = (...selectors: readonly Words[]): string => paying('unknownName', [...others, ...selectors]);
  if (inForce.profile_sensitivity !== 'low') return [pays(unknown)];
  const { zones, perSecond } = state.alarm;
  return [
    ...(state.attackedZones.length > 0 ? [pays(inZones(state.attackedZones), unknown)] : []),
    // A flood pays from its first moment on, not only when Floodgate has seen it.
    ...(zones.length > 0 ? [pays(inZones(zones), unknown, beyond(THE_ALARM, perSecond, perSecond))] : []),
  ];
}

/** Known names that are asked for with a type which they are not known with. */
function unknownTypes({ typeCombinations, unseededZones }: DnsdistState): string[] {
  const combinations = typeCombinations.flatMap(unknownTypeOf);
  if (combinations.length === 0) return [];
  return [paying('unknownType', [notPaying, ...notIn(unseededZones), oneOf(combinations)])];
}

/** That a name known with these types is asked for with another one; none where all types are among them. */
function unknownTypeOf(types: number): Words[] {
  const isOther = haveOtherTypes(types);
  // Where the types without a bit of their own are known, too, only one that has a bit and is not among these is unknown.
  const listed = TYPES_WITH_BIT.filter(([, bit]) => ((types & bit) !== 0) !== isOther).map(([type]) =>
    ofType(type),
  );
  const known = tagged(TAG.types, typesText(types));
  if (listed.length === 0) return isOther ? [] : [known];
  return [all([known, isOther ? oneOf(listed) : not(oneOf(listed))])];
}
