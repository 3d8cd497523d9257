import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNetwork } from '../../../platform/addresses/index.ts';
import { type Access, profileLevel } from '../../detector/index.ts';
import { QueryType, typeBit } from '../../protocol/index.ts';
import { commandOf, compileRules, type DnsdistState, type ZoneGroup } from './compileRules.ts';
import { DeepestZones } from './deepestZones.ts';
import { luaText } from './luaText.ts';

const { low, medium, high, very_high } = profileLevel;
const group = (level: number, more: Partial<ZoneGroup> = {}): ZoneGroup => ({
  key: '',
  mode: 'enabled',
  level,
  limit: undefined,
  ...more,
});
const STATE: DnsdistState = {
  zones: new DeepestZones([]),
  accessLists: { networks: [], names: [] },
  clientRatePerSecond: 0,
  groups: [group(medium)],
  policies: [],
  typeCombinations: [],
  busyNames: [],
  limitAction: 'drop',
  bucket: { ratePerSecond: 100, burst: 500 },
  calmBucket: { ratePerSecond: 300, burst: 500 },
  attackedZones: [],
  alarm: { zones: [], perSecond: 0 },
  unseededZones: [],
  zonesByRate: [],
  ceiling: { ratePerSecond: 1000, burst: 5000 },
};
/** Returns the lines of the rule data with hexadecimal texts decoded. */
const rules = (state: Partial<DnsdistState>): string[] =>
  compileRules({ ...STATE, ...state })
    .trimEnd()
    .split('\n')
    .slice(1)
    .filter((line) => line !== 'names')
    .map((line) => line.replace(/\b(?:[0-9a-f]{2}){3,}\b/g, (word) => Buffer.from(word, 'hex').toString()));

const ACCOUNT =
  'floodgate-refuses tag floodgate-refused dropped and 4 tagged floodgate-pays * not tagged floodgate-pays accessList not tagged floodgate-pays zoneRate beyond 3d 300 500';

/** At sensitivity `high` and above. */
const UNKNOWN_TYPES =
  'floodgate-refuses tag floodgate-refused dropped and 2 tagged floodgate-pays unknownType beyond 3f 300 500';
const ACCOUNT_OF_NAMES = ACCOUNT.replace('and 4', 'and 5').replace(
  ' beyond',
  ' not tagged floodgate-pays unknownType beyond',
);

describe('the compiled dnsdist rules', () => {
  it('make unknown names pay, and limit them when the bucket is empty', () => {
    expect(rules({})).toEqual([
      'floodgate-pays tag floodgate-pays unknownName and 2 not tagged floodgate-pays * unknown',
      ACCOUNT,
    ]);
  });

  it('only count in monitoring mode, and answer TC=1 if configured', () => {
    expect(rules({ groups: [group(medium, { mode: 'monitoring' })] }).at(-1)).toContain('wouldDrop');
    expect(rules({ limitAction: 'truncate' }).at(-1)).toContain('truncated');
  });

  it('redirect clients above their rate to TCP, after all other rules', () => {
    expect(rules({ clientRatePerSecond: 100 }).slice(-2)).toEqual([
      'floodgate-pays tag floodgate-pays clientRate and 2 not tagged floodgate-pays * client 100 500',
      'floodgate-refuses tag floodgate-refused truncated and 1 tagged floodgate-pays clientRate',
    ]);
  });

  it('apply access lists even without a rule, most specific entry first', () => {
    const network = (text: string, access: Access) => ({ network: parseNetwork(text), access });
    const accessLists = {
      networks: [
        network('0.0.0.0/0', 'deny'),
        network('192.0.2.0/24', 'allow'),
        network('198.51.100.0/24', 'allow'),
        network('192.0.2.0/24', 'deny'),
      ],
      names: [
        { name: 'Example.test.', access: 'deny' },
        { name: 'www.example.test', access: 'allow' },
      ],
    } as const;
    const about = (selector: string) => `and 2 not tagged floodgate-pays * ${selector}`;
    const refuse = (selector: string) => `floodgate-refuses tag floodgate-refused dropped ${about(selector)}`;
    const list = (access: Access, selector: string) =>
      `floodgate-${access} tag floodgate-pays accessList ${about(selector)}`;
    expect(rules({ accessLists, groups: [group(low, { mode: 'none' })] })).toEqual([
      list('allow', 'from 2 192.0.2.0/24 198.51.100.0/24'),
      refuse('from 2 192.0.2.0/24 0.0.0.0/0'),
      list('deny', 'from 2 192.0.2.0/24 0.0.0.0/0'),
      list('allow', 'zones 1 www.example.test'),
      refuse('zones 1 example.test'),
      list('deny', 'zones 1 example.test'),
    ]);
    const data = compileRules({ ...STATE, accessLists });
    expect(data.indexOf('\nnames\n')).toBeGreaterThan(
      data.lastIndexOf(Buffer.from('floodgate-deny').toString('hex')),
    );
  });

  it('are empty if there is no rule or it is disabled', () => {
    expect(rules({ groups: [group(medium, { mode: 'none' })] })).toEqual([]);
  });

  it('limit at sensitivity low only zones under attack, and zones with known names above the alarm rate', () => {
    const groups = [group(low)];
    expect(rules({ groups })).toEqual([ACCOUNT]);
    const alarm = { zones: ['a.test', 'b.test'], perSecond: 150 };
    const pays =
      'tagged floodgate-pays * not tagged floodgate-pays accessList not tagged floodgate-pays zoneRate';
    expect(rules({ groups, attackedZones: ['a.test'], alarm })).toEqual([
      'floodgate-pays tag floodgate-pays unknownName and 3 not tagged floodgate-pays * zones 1 a.test unknown',
      'floodgate-pays tag floodgate-pays unknownName and 4 not tagged floodgate-pays * zones 2 a.test b.test unknown beyond 21 150 150',
      // A flood on one zone does not use up the tokens of other zones.
      `floodgate-refuses tag floodgate-refused dropped and 5 ${pays} zones 1 a.test beyond - 100 500`,
      `floodgate-refuses tag floodgate-refused dropped and 5 ${pays} not zones 1 a.test beyond 3d 300 500`,
    ]);
  });

  it('make known names with an unknown type pay at sensitivity high and above, from a bucket of their own', () => {
    const a = typeBit(QueryType.A);
    const aaaa = typeBit(QueryType.AAAA);
    const groups = [group(high)];
    const compiled = rules({ groups, typeCombinations: [a, a | aaaa, 0xffff, 0xffff & ~aaaa] });
    const known = (types: number): string =>
      `tagged floodgate-types ${Buffer.from(types.toString(16).padStart(4, '0')).toString()}`;
    expect(compiled[0]).toMatch(/^floodgate-types lookup floodgate-types /);
    expect(compiled[1]).toBe(
      'floodgate-pays tag floodgate-pays unknownName and 2 not tagged floodgate-pays * tagged floodgate-types -',
    );
    expect(compiled[2]).toBe(
      'floodgate-pays tag floodgate-pays unknownType and 2 not tagged floodgate-pays * or 3 ' +
        `and 2 ${known(a)} not or 1 type 1 and 2 ${known(a | aaaa)} not or 2 type 1 type 28 ` +
        `and 2 ${known(0xffff & ~aaaa)} or 1 type 28`,
    );
    expect(compiled.slice(3)).toEqual([UNKNOWN_TYPES, ACCOUNT_OF_NAMES]);
    const veryHigh = [group(very_high)];
    const busyNames = ['busy.test'];
    expect(rules({ groups: veryHigh, typeCombinations: [a] })).toEqual(
      rules({ groups, typeCombinations: [a], busyNames }),
    );
    expect(rules({ groups: veryHigh, typeCombinations: [a], busyNames })[2]).toBe(
      'floodgate-pays tag floodgate-pays aboveUsual and 2 not tagged floodgate-pays * names 1 busy.test',
    );
  });

  const limits = {
    unknown: { ratePerSecond: 7, burst: 9 },
    learned: { ratePerSecond: 6, burst: 8 },
  };
  const payAndRefuse = {
    pay: (selector: string) => `floodgate-pays tag floodgate-pays zoneRate ${selector}`,
    refuse: (selector: string) => `floodgate-refuses tag floodgate-refused dropped ${selector}`,
    byRate: 'tagged floodgate-pays zoneRate',
    unpaid: 'not tagged floodgate-pays *',
    truncate: (more = '', count = 3) =>
      `floodgate-refuses tag floodgate-refused truncated and ${count} tagged floodgate-pays zoneRate ` +
      `tagged floodgate-refused dropped ${more}network`,
  };

  it('limit zones without learnable names by rates of their own and a ceiling, and exempt zones that are being seeded', () => {
    const { pay, refuse, byRate, unpaid, truncate } = payAndRefuse;
    const zonesByRate = [
      { name: 'w.test', group: '', limits },
      { name: 'fresh.test', group: '', limits: undefined },
    ];
    const compiled = rules({ zonesByRate, unseededZones: ['late.test'] });
    expect(compiled).toEqual([
      pay(`and 3 ${unpaid} zones 1 w.test or 2 unknown learned`),
      refuse(`and 4 ${byRate} zones 1 w.test learned beyond w.test + 6 8`),
      refuse(`and 4 ${byRate} zones 1 w.test not learned beyond w.test 7 9`),
      // No limit until the zone has a baseline.
      pay(`and 3 ${unpaid} zones 1 fresh.test or 2 unknown learned`),
      refuse(`and 4 ${byRate} not tagged floodgate-refused * zones 1 w.test beyond 5e 1000 5000`),
      'floodgate-pays tag floodgate-pays unknownName and 4 not tagged floodgate-pays * not zones 1 late.test not zones 2 w.test fresh.test unknown',
      ACCOUNT,
      truncate(),
    ]);
    expect(rules({ zonesByRate, limitAction: 'truncate' }).at(-1)).not.toContain('network');
    const monitoring = rules({ zonesByRate, groups: [group(medium, { mode: 'monitoring' })] });
    expect(monitoring.at(-1)).not.toContain('network');
  });

  it('apply the policy of the deepest zone, and its limit to all names of the policy together', () => {
    const limit = { ratePerSecond: 7, burst: 9 };
    const groups = [
      group(medium),
      group(low, { key: 'off', mode: 'none' }),
      group(low, { key: 'own', limit }),
    ];
    const policies = [
      { zone: 'deep.a.test', group: 'own' },
      { zone: 'a.test', group: 'off' },
      { zone: 'b.test', group: 'off' },
    ];
    const zonesByRate = [{ name: 'w.deep.a.test', group: 'own', limits }];
    const { pay, refuse, byRate, unpaid, truncate } = payAndRefuse;
    const inOwn = 'tagged floodgate-group own';
    const paysInOwn = `tagged floodgate-pays * ${inOwn} not tagged floodgate-pays accessList`;
    const ofLearned = `and 2 ${byRate} learned`;
    const compiled = rules({ groups, policies, zonesByRate });
    expect(compiled).toEqual([
      'floodgate-group tag floodgate-group own and 2 not tagged floodgate-group * zones 1 deep.a.test',
      'floodgate-group tag floodgate-group off and 2 not tagged floodgate-group * zones 2 a.test b.test',
      'floodgate-pays tag floodgate-pays unknownName and 4 not tagged floodgate-pays * not tagged floodgate-group * not zones 1 w.deep.a.test unknown',
      ACCOUNT.replace('and 4', 'and 5').replace('* not', '* not tagged floodgate-group * not'),
      pay(`and 4 ${unpaid} ${inOwn} zones 1 w.deep.a.test or 2 unknown learned`),
      refuse(`and 5 ${paysInOwn} not ${ofLearned} beyond own  7 9`),
      refuse(`and 6 ${paysInOwn} ${ofLearned} beyond own  7 9 beyond own + 2 2`),
      truncate(`${inOwn} `, 4),
    ]);
    expect(rules({ groups, policies }).at(-1)).toBe(refuse(`and 4 ${paysInOwn} beyond own  7 9`));
  });

  it('are a fixed number of words of digits and lower-case letters, for any names', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom('"}) os.execute("x") --', ']]', '\\"', '\n', '\0', "'..os.exit()..'", ' ', '*'),
    );
    const dataOf = (level: number, zone: string, other: string): string =>
      compileRules({
        ...STATE,
        groups: [group(level), group(level, { key: 'abc', limit: { ratePerSecond: 1, burst: 2 } })],
        policies: [{ zone, group: 'abc' }],
        busyNames: [zone, other],
        attackedZones: [zone, other],
        alarm: { zones: [zone], perSecond: 100 },
        zonesByRate: [{ name: other, group: '', limits }],
      });
    const shapeOf = (data: string): number[] => data.split('\n').map((line) => line.split(' ').length);
    for (const sensitivity of [low, medium, high, very_high]) {
      const shape = shapeOf(dataOf(sensitivity, 'a.test', 'b.test'));
      fc.assert(
        fc.property(text, text, (zone, other) => {
          const data = dataOf(sensitivity, zone, other);
          expect(data).toMatch(/^([a-z0-9*-]+( [a-z0-9*-]+)*\n)+$/);
          expect(shapeOf(data)).toEqual(shape);
        }),
      );
    }
  });
});

describe('the console command', () => {
  it('escapes paths and rules, so that no part of them becomes Lua', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        expect(luaText(text)).toMatch(/^"([A-Za-z0-9.:[\]+/=_ -]|\\\d{3})+"$/);
        expect(commandOf('x', text, [])).toBe(commandOf('x', '/p', []).replace('"/p"', () => luaText(text)));
      }),
    );
    expect(commandOf(compileRules(STATE), undefined, [])).not.toContain('reboot');
    expect(commandOf('x', undefined, [])).toMatch(/,"x",nil\)$/);
  });

  it('rejects zone transfers except over TCP from allowed networks', () => {
    expect(commandOf('x', undefined, [])).toContain(
      'newRuleAction(AndRule({OrRule({QTypeRule(252),QTypeRule(251)})}),RCodeAction(DNSRCode.REFUSED)',
    );
    expect(commandOf('x', undefined, ['192.0.2.0/24', '::1'].map(parseNetwork))).toContain(
      'AndRule({OrRule({QTypeRule(252),QTypeRule(251)}),NotRule(AndRule({TCPRule(true),NetmaskGroupRule((function() ' +
        'local allowed=newNMG() allowed:addMask("192.0.2.0/24") allowed:addMask("0:0:0:0:0:0:0:1/128") return allowed end)())}))})',
    );
  });
});
