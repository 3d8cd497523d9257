import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNetwork } from '../../../platform/addresses/index.ts';
import type { Rule } from '../../../rules/index.ts';
import { QueryType, typeBit } from '../../protocol/index.ts';
import { compileRules, type DnsdistState, luaText } from './compileRules.ts';

const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: '"}) os.execute("reboot") --',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '',
  modified_on: '',
};
const STATE: DnsdistState = {
  transfersAllow: [],
  rule: RULE,
  knownNames: '/var/lib/floodgate/known.cdb',
  typeCombinations: [],
  busyNames: [],
  refuseWith: 'drop',
  bucket: { ratePerSecond: 100, burst: 500 },
  attackedZones: [],
  unseededZones: [],
  zonesByRate: [],
};
const rules = (state: Partial<DnsdistState>) => compileRules({ ...STATE, ...state });

describe('the rules of dnsdist', () => {
  it('refuse what is not known and beyond the bucket, and nothing over TCP', () => {
    expect(rules({})).toContain(
      'newRuleAction(AndRule({TCPRule(false),NotRule(KeyValueStoreLookupRule(floodgateKnown,KeyValueLookupKeyQName(true))),' +
        'NotRule(bucket("",100,500))}),DropAction(),{name="floodgate-unknownName"})',
    );
  });

  it('only count where the rule is monitoring, and answer TC=1 where configured', () => {
    expect(rules({ rule: { ...RULE, mode: 'monitoring' } })).toContain('NoneAction()');
    expect(rules({ refuseWith: 'truncate' })).toContain('TCAction()');
  });

  it('are none without a rule, and with a disabled one', () => {
    for (const state of [{ rule: undefined }, { rule: { ...RULE, mode: 'disabled' } as Rule }])
      expect(rules(state)).not.toMatch(/NotRule\(bucket|DropAction|NoneAction/);
  });

  it('are for the names that dnsdist has while none are published, and none where it has none', () => {
    const compiled = rules({ knownNames: undefined });
    expect(compiled).not.toContain('newCDBKVStore');
    expect(compiled).toMatch(/if floodgateKnown then .*DropAction/);
  });

  it('hold at sensitivity low only in zones under attack', () => {
    const low = { ...RULE, profile_sensitivity: 'low' } as const;
    expect(rules({ rule: low })).not.toContain('DropAction');
    expect(rules({ rule: low, attackedZones: ['a.test'] })).toContain(`makeRule({${luaText('a.test')}})`);
  });

  it('let also a known name with an unknown type pay at sensitivity high and above, from the same bucket', () => {
    const a = typeBit(QueryType.A);
    const aaaa = typeBit(QueryType.AAAA);
    const other = typeBit(4711);
    const high = { ...RULE, profile_sensitivity: 'high' } as const;
    const compiled = rules({ rule: high, typeCombinations: [a, a | aaaa, 0xffff, 0xffff & ~aaaa] });
    const tag = (types: number): string =>
      `TagRule("floodgate-types",${luaText(types.toString(16).padStart(4, '0'))})`;
    expect(other & (a | aaaa)).toBe(0);
    expect(compiled).toContain(
      'newRuleAction(TCPRule(false),KeyValueStoreLookupAction(floodgateKnown,KeyValueLookupKeyQName(true),"floodgate-types"))',
    );
    expect(compiled).toContain(
      `OrRule({TagRule("floodgate-types",""),AndRule({${tag(a)},NotRule(OrRule({QTypeRule(1)}))}),` +
        `AndRule({${tag(a | aaaa)},NotRule(OrRule({QTypeRule(1),QTypeRule(28)}))}),` +
        `AndRule({${tag(0xffff & ~aaaa)},OrRule({QTypeRule(28)})})})`,
    );
    expect(compiled).not.toContain(tag(0xffff));
    expect(compiled.match(/NotRule\(bucket/g)).toHaveLength(1);
    const veryHigh = { ...high, profile_sensitivity: 'very_high' } as const;
    const busyNames = ['busy.test'];
    expect(rules({ rule: veryHigh, typeCombinations: [a] })).toBe(
      rules({ rule: high, typeCombinations: [a], busyNames }),
    );
    expect(rules({ rule: veryHigh, typeCombinations: [a], busyNames })).toContain(
      `ipairs({${luaText('busy.test')}})`,
    );
    expect(rules({ typeCombinations: [a] })).not.toContain('TagRule');
  });

  it('detector zones whose names cannot be learned by their own rate', () => {
    const compiled = rules({ zonesByRate: [{ name: 'w.test', ratePerSecond: 7, burst: 9 }] });
    expect(compiled).toContain(`makeRule({${luaText('w.test')}}),`);
    expect(compiled).toContain(`NotRule(bucket(${luaText('w.test')},7,9))`);
    expect(compiled).toContain(`NotRule(makeRule({${luaText('w.test')}}))`);
  });

  it('refuse transfers and all that is no query whatever the rule is, but for networks that may, over TCP', () => {
    const refusals = [
      'newRuleAction(NotRule(OpcodeRule(DNSOpcode.Query)),RCodeAction(DNSRCode.NOTIMP)',
      'newRuleAction(AndRule({OrRule({QTypeRule(252),QTypeRule(251)})}),RCodeAction(DNSRCode.REFUSED)',
    ];
    const disabled = { ...RULE, mode: 'disabled' } as const;
    for (const state of [{}, { rule: undefined }, { rule: disabled }, { knownNames: undefined }])
      for (const refusal of refusals)
        expect(rules(state).split('if floodgateKnown then')[0]).toContain(refusal);
    expect(rules({ transfersAllow: ['192.0.2.0/24', '::1'].map(parseNetwork) })).toContain(
      'AndRule({OrRule({QTypeRule(252),QTypeRule(251)}),NotRule(AndRule({TCPRule(true),NetmaskGroupRule((function() ' +
        'local allowed=newNMG() allowed:addMask("192.0.2.0/24") allowed:addMask("0:0:0:0:0:0:0:1/128") return allowed end)())}))})',
    );
  });

  it('have no byte of a name, a path or a label as it came: no name becomes Lua', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        expect(luaText(text)).toMatch(/^"(\\\d{3})+"$/);
      }),
    );
    expect(rules({})).not.toContain('reboot');
  });

  it('are the same Lua whatever the names in them are: only strings of escapes differ', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom('"}) os.execute("x") --', ']]', '\\"', '\n', '\0', "'..os.exit()..'"),
    );
    const shapeOf = (
      profile_sensitivity: Rule['profile_sensitivity'],
      zone: string,
      other: string,
      path: string,
    ): string =>
      rules({
        rule: { ...RULE, id: other, name: zone, scope: 'region', region: path, profile_sensitivity } as Rule, // any text in each
        busyNames: [zone, other],
        knownNames: path,
        attackedZones: [zone, other],
        zonesByRate: [{ name: other, ratePerSecond: 7, burst: 9 }],
      }).replace(/"(\\\d{3})+"/g, 'TEXT');
    for (const sensitivity of ['low', 'medium', 'high', 'very_high'] as const) {
      const shape = shapeOf(sensitivity, 'a.test', 'b.test', '/c');
      fc.assert(
        fc.property(text, text, text, (zone, other, path) => {
          expect(shapeOf(sensitivity, zone, other, path)).toBe(shape);
        }),
      );
    }
  });
});
