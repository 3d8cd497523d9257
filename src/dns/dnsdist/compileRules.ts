/**
 * A rule of ours as rules of dnsdist's own: native selectors only, no Lua runs for a packet. Every text that comes from
 * outside is written as decimal escapes, byte by byte: no name can become Lua.
 */
import type { Rule } from '../../rules/index.ts';

export interface DnsdistState {
  readonly rule: Rule | undefined;
  /** Where the names are that are known; undefined while there are none to publish, and then nothing is refused. */
  readonly knownNames: string | undefined;
  /** Whether a guard in this state may refuse at all. */
  readonly ready: boolean;
  readonly refuseWith: 'drop' | 'truncate';
  readonly bucket: { readonly ratePerSecond: number; readonly burst: number };
  /** Zones under attack, the only ones whose unknown names pay at sensitivity `low`. */
  readonly attackedZones: readonly string[];
  readonly zonesByRate: readonly {
    readonly name: string;
    readonly ratePerSecond: number;
    readonly burst: number;
  }[];
}

/** The names under which dnsdist counts what our rules matched. */
export const RULE_NAMES = { unknownName: 'floodgate-unknownName', zoneRate: 'floodgate-zoneRate' } as const;

/** One console command that puts the state in force, whole: dnsdist swaps its rule list at once. */
export function compileRules(state: DnsdistState): string {
  const rules = ['newRuleAction(AllRule(),DnstapLogAction("floodgate",floodgateTap),{name="floodgate-tap"})'];
  const { rule, knownNames } = state;
  if (rule !== undefined && rule.mode !== 'disabled' && knownNames !== undefined)
    rules.push(...protecting(state, rule));
  const store =
    knownNames === undefined
      ? ''
      : `floodgateKnown=floodgateKnown or newCDBKVStore(${luaText(knownNames)},1) `;
  return `${store}setRules({${rules.join(',')}})`;
}

function protecting(state: DnsdistState, rule: Rule): string[] {
  const action = actionOf(state, rule);
  const overUdp = 'TCPRule(false)';
  const byRate = state.zonesByRate.map((zone) => zone.name);
  const unknown = 'NotRule(KeyValueStoreLookupRule(floodgateKnown,KeyValueLookupKeyQName(true)))';
  const zoneRules = state.zonesByRate.map(({ name, ratePerSecond, burst }) =>
    ruleOf([overUdp, inZones([name]), unknown, beyond(ratePerSecond, burst)], action, RULE_NAMES.zoneRate),
  );
  const low = rule.profile_sensitivity === 'low';
  if (low && state.attackedZones.length === 0) return zoneRules;
  const selectors = [
    overUdp,
    ...(low ? [inZones(state.attackedZones)] : []),
    ...(byRate.length > 0 ? [`NotRule(${inZones(byRate)})`] : []),
    unknown,
    beyond(state.bucket.ratePerSecond, state.bucket.burst),
  ];
  return [...zoneRules, ruleOf(selectors, action, RULE_NAMES.unknownName)];
}

/** Selectors are asked in their order and only as long as they hold: only a query that pays reaches the bucket. */
const ruleOf = (selectors: readonly string[], action: string, name: string): string =>
  `newRuleAction(AndRule({${selectors.join(',')}}),${action},{name="${name}"})`;

function actionOf({ ready, refuseWith }: DnsdistState, rule: Rule): string {
  if (rule.mode !== 'enabled' || !ready) return 'NoneAction()';
  return refuseWith === 'truncate' ? 'TCAction()' : 'DropAction()';
}

const beyond = (ratePerSecond: number, burst: number): string =>
  `NotRule(MaxQPSRule(${Math.ceil(ratePerSecond)},${Math.ceil(burst)}))`;

/** The root is the zone of every name: it is how names outside the known zones are written. */
const inZones = (zones: readonly string[]): string =>
  `makeRule({${zones.map((zone) => luaText(zone === '' ? '.' : zone)).join(',')}})`;

/** Any text as a Lua string in which nothing but digits and backslashes stand. */
export const luaText = (text: string): string =>
  `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
