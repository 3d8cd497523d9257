/**
 * A rule of ours as rules of dnsdist's own: native selectors only, no Lua runs for a packet. Every text that comes from
 * outside is written as decimal escapes, byte by byte: no name can become Lua.
 */

import type { Network } from '../../../platform/addresses/index.ts';
import type { Rule } from '../../../rules/index.ts';
import { profileLevel } from '../../detector/index.ts';
import { haveOtherTypes, TYPES_WITH_BIT } from '../../protocol/index.ts';
import { typesText } from './knownNames.ts';
import { refusalsOf } from './refusals.ts';

export interface DnsdistState {
  /** Who may transfer zones, over TCP. */
  readonly transfersAllow: readonly Network[];
  readonly rule: Rule | undefined;
  /** Where the names are that are known; undefined while none are published: then dnsdist keeps the names that it has, and a dnsdist that has none refuses nothing. */
  readonly knownNames: string | undefined;
  /** The combinations of types with which names are known, as bits: what sensitivity `high` tells known types by. */
  readonly typeCombinations: readonly number[];
  /** Known names that are beyond their usual rate now. */
  readonly busyNames: readonly string[];
  readonly refuseWith: 'drop' | 'truncate';
  readonly bucket: { readonly ratePerSecond: number; readonly burst: number };
  /** Zones under attack, the only ones whose unknown names pay at sensitivity `low`. */
  readonly attackedZones: readonly string[];
  /** Zones whose names are still being read: no name of theirs is unknown yet. */
  readonly unseededZones: readonly string[];
  readonly zonesByRate: readonly {
    readonly name: string;
    readonly ratePerSecond: number;
    readonly burst: number;
  }[];
}

/** The names under which dnsdist counts what our rules matched. */
export const RULE_NAMES = {
  unknownName: 'floodgate-unknownName',
  /** At sensitivity `high` and above: unknown names, known ones asked for with an unknown type, names that are too busy. */
  unknownNameOrType: 'floodgate-nameOrType',
  zoneRate: 'floodgate-zoneRate',
} as const;

/** What a name's types are called while dnsdist looks at a query. */
const TYPES_TAG = 'floodgate-types';
/**
 * So many combinations of types are told apart, at some 25 ns a query each: those of most names. A name with a rarer one is
 * known with every type.
 */
export const MAX_TYPE_COMBINATIONS = 64;

/** One console command that puts the state in force, whole: dnsdist swaps its rule list at once. */
export function compileRules(state: DnsdistState): string {
  const { rule, knownNames, transfersAllow } = state;
  const protection = rule === undefined || rule.mode === 'disabled' ? [] : protecting(state, rule);
  const refusals = refusalsOf(transfersAllow).map(
    ({ selector, action, name }) => `newRuleAction(${selector},${action},{name="${name}"})`,
  );
  const store = knownNames === undefined ? '' : storeAt(luaText(knownNames));
  return `${store}${KEEP_BUCKETS}local rules={${[...refusals, TAP].join(',')}} if floodgateKnown then for _,rule in ipairs({${protection.join(',')}}) do rules[#rules+1]=rule end end setRules(rules) floodgateBuckets=buckets`;
}

const TAP = 'newRuleAction(AllRule(),DnstapLogAction("floodgate",floodgateTap),{name="floodgate-tap"})';

/** A file that dnsdist cannot read would make every name unknown: then it keeps the names and the rules that it has. */
const storeAt = (path: string): string =>
  `if floodgateKnownAt~=${path} then local file,why=io.open(${path}) if not file then error(why,0) end file:close() ` +
  `floodgateKnown=newCDBKVStore(${path},1) floodgateKnownAt=${path} end `;

/** A bucket that is wanted again stays as full as it is: else every change of the rules would fill it. */
const KEEP_BUCKETS =
  'local old,buckets=floodgateBuckets or {},{} ' +
  'local function bucket(of,rate,burst) local key=of.." "..rate.." "..burst ' +
  'buckets[key]=old[key] or MaxQPSRule(rate,burst) return buckets[key] end ';

function protecting(state: DnsdistState, rule: Rule): string[] {
  const action = actionOf(state, rule);
  const overUdp = 'TCPRule(false)';
  const byRate = state.zonesByRate.map((zone) => zone.name);
  const typed = profileLevel[rule.profile_sensitivity] >= profileLevel.high;
  const unknown = typed
    ? tagged('')
    : 'NotRule(KeyValueStoreLookupRule(floodgateKnown,KeyValueLookupKeyQName(true)))';
  // One look into the file for all rules: what stands under the name, nothing where it is not there, becomes a tag.
  const lookUp = `newRuleAction(${overUdp},KeyValueStoreLookupAction(floodgateKnown,KeyValueLookupKeyQName(true),"${TYPES_TAG}"))`;
  const before = typed ? [lookUp] : [];
  const zoneRules = state.zonesByRate.map(({ name, ratePerSecond, burst }) =>
    ruleOf(
      [overUdp, inZones([name]), unknown, beyond(name, ratePerSecond, burst)],
      action,
      RULE_NAMES.zoneRate,
    ),
  );
  const low = rule.profile_sensitivity === 'low';
  if (low && state.attackedZones.length === 0) return zoneRules;
  const isVeryHigh = rule.profile_sensitivity === 'very_high';
  const busy = isVeryHigh && state.busyNames.length > 0 ? [`QNameSetRule(${nameSet(state.busyNames)})`] : [];
  const paying = [unknown, ...busy, ...state.typeCombinations.flatMap(unknownTypeOf)];
  const selectors = [
    overUdp,
    ...(low ? [inZones(state.attackedZones)] : []),
    ...(state.unseededZones.length > 0 ? [`NotRule(${inZones(state.unseededZones)})`] : []),
    ...(byRate.length > 0 ? [typed ? unlessByRate(byRate, unknown) : `NotRule(${inZones(byRate)})`] : []),
    typed ? `OrRule({${paying.join(',')}})` : unknown,
    beyond(THE_ACCOUNT, state.bucket.ratePerSecond, state.bucket.burst),
  ];
  const name = typed ? RULE_NAMES.unknownNameOrType : RULE_NAMES.unknownName;
  return [...before, ...zoneRules, ruleOf(selectors, action, name)];
}

/** Unknown names of zones that are judged by rate have paid there; a known name with an unknown type pays anywhere. */
const unlessByRate = (zones: readonly string[], unknown: string): string =>
  `NotRule(AndRule({${inZones(zones)},${unknown}}))`;

const tagged = (value: string): string => `TagRule("${TYPES_TAG}",${luaText(value)})`;

/** The rule that a name known with these types is asked for with another one; none where all types are among them. */
function unknownTypeOf(types: number): string[] {
  const isOther = haveOtherTypes(types);
  // Where the types without a bit of their own are known, too, only one that has a bit and is not among these is unknown.
  const listed = TYPES_WITH_BIT.filter(([, bit]) => ((types & bit) !== 0) !== isOther).map(
    ([type]) => `QTypeRule(${type})`,
  );
  if (listed.length === 0) return isOther ? [] : [tagged(typesText(types))];
  const oneOf = `OrRule({${listed.join(',')}})`;
  return [`AndRule({${tagged(typesText(types))},${isOther ? oneOf : `NotRule(${oneOf})`}})`];
}

/** Selectors are asked in their order and only as long as they hold: only a query that pays reaches the bucket. */
const ruleOf = (selectors: readonly string[], action: string, name: string): string =>
  `newRuleAction(AndRule({${selectors.join(',')}}),${action},{name="${name}"})`;

function actionOf({ refuseWith }: DnsdistState, rule: Rule): string {
  if (rule.mode !== 'enabled') return 'NoneAction()';
  return refuseWith === 'truncate' ? 'TCAction()' : 'DropAction()';
}

/** Whose bucket it is: the account's has a name that no zone has. */
const THE_ACCOUNT = '';

const beyond = (owner: string, ratePerSecond: number, burst: number): string =>
  `NotRule(bucket(${luaText(owner)},${Math.ceil(ratePerSecond)},${Math.ceil(burst)}))`;

/** The root is the zone of every name: it is how names outside the known zones are written. */
const inZones = (zones: readonly string[]): string =>
  `makeRule({${zones.map((zone) => luaText(zone === '' ? '.' : zone)).join(',')}})`;

const nameSet = (names: readonly string[]): string =>
  `(function() local set=newDNSNameSet() for _,name in ipairs({${names.map(luaText).join(',')}}) do set:add(newDNSName(name)) end return set end)()`;

/** Any text as a Lua string in which nothing but digits and backslashes stand. */
export const luaText = (text: string): string =>
  `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
