import fc from 'fast-check';
import { expect, it } from 'vitest';
import { networkMatcher, parseNetwork } from '../../../platform/addresses/index.ts';
import { questionOf } from '../../protocol/index.ts';
import { ACCESS_LISTS_BYTES, type Access, SharedAccessLists } from './accessLists.ts';
import { ClientAddress } from './clientAddress.ts';

const KEY = { high: 1, low: 2 };
const memory = new SharedArrayBuffer(ACCESS_LISTS_BYTES);
const lists = new SharedAccessLists(memory);
/** View of another thread. */
const elsewhere = new SharedAccessLists(memory);
const address = new ClientAddress();

function write(networks: Record<string, Access>, names: Record<string, Access> = {}): void {
  const entriesOf = (of: Record<string, Access>) => Object.entries(of);
  lists.write(
    {
      networks: entriesOf(networks).map(([text, access]) => ({ network: parseNetwork(text), access })),
      names: entriesOf(names).map(([name, access]) => ({ name, access })),
    },
    KEY,
  );
}
function ofClient(text: string): Access | undefined {
  address.read(text);
  return elsewhere.ofClient(address);
}
const ofName = (name: string): Access | undefined => elsewhere.ofName(questionOf(name, 1, KEY));

it('the longest matching prefix of the same address family applies', () => {
  write({
    '0.0.0.0/0': 'deny',
    '192.0.2.0/24': 'allow',
    '192.0.2.128/25': 'deny',
    '192.0.2.200': 'allow',
    '2001:db8::/32': 'deny',
    '2001:db8:1::/48': 'allow',
  });
  expect(
    ['198.51.100.1', '192.0.2.1', '::ffff:192.0.2.1', '192.0.2.129', '192.0.2.200'].map(ofClient),
  ).toEqual(['deny', 'allow', 'allow', 'deny', 'allow']);
  expect(['2001:db8::1', '2001:db8:1::1', '2001:db9::1', 'nonsense', ''].map(ofClient)).toEqual([
    'deny',
    'allow',
    undefined,
    undefined,
    undefined,
  ]);
});

it('the deepest name applies, to all names below it and regardless of case', () => {
  write({}, { 'example.test': 'deny', 'www.Example.test': 'allow', 'x.www.example.test': 'deny' });
  expect(['example.test', 'a.b.EXAMPLE.test', 'www.example.test', 'y.www.example.test'].map(ofName)).toEqual([
    'deny',
    'deny',
    'allow',
    'allow',
  ]);
  expect(['z.x.www.example.test', 'notexample.test', 'test', '.'].map(ofName)).toEqual([
    'deny',
    undefined,
    undefined,
    undefined,
  ]);
});

it('an entry that allows overrides an equal one that denies; removed entries no longer apply', () => {
  for (const order of [
    ['allow', 'deny'],
    ['deny', 'allow'],
  ] as const) {
    const network = parseNetwork('192.0.2.0/24');
    const entries = order.map((access) => ({ network, access }));
    const names = order.map((access) => ({ name: 'a.test', access }));
    lists.write({ networks: entries, names }, KEY);
    expect([ofClient('192.0.2.1'), ofName('a.test')]).toEqual(['allow', 'allow']);
  }
  write({});
  expect([ofClient('192.0.2.1'), ofName('a.test'), elsewhere.haveNetworks, elsewhere.haveNames]).toEqual([
    undefined,
    undefined,
    false,
    false,
  ]);
});

it('lookups of networks agree with a linear search', () => {
  const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const text = (value: number) =>
    [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
  const network = fc
    .tuple(word, fc.nat(32), fc.constantFrom<Access>('allow', 'deny'))
    .map(([base, bits, access]) => {
      const size = 2 ** (32 - bits);
      return { network: parseNetwork(`${text(Math.floor(base / size) * size)}/${bits}`), access };
    });
  fc.assert(
    fc.property(fc.array(network, { maxLength: 40 }), word, (networks, asked) => {
      lists.write({ networks, names: [] }, KEY);
      const around = networks
        .filter((one) => networkMatcher([one.network])(text(asked)))
        .sort((a, b) => b.network.bits - a.network.bits || a.access.localeCompare(b.access));
      expect(ofClient(text(asked))).toBe(around[0]?.access);
    }),
  );
});

it('access lists accept the maximum number of entries, and reject more without a change', () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      network: parseNetwork(`10.${i >> 8}.${i & 0xff}.0/24`),
      access: 'deny' as const,
    }));
  lists.write({ networks: entries(2000), names: [] }, KEY);
  expect([ofClient('10.7.207.9'), ofClient('10.7.208.9')]).toEqual(['deny', undefined]);
  expect(() => lists.write({ networks: entries(2001), names: [] }, KEY)).toThrow(RangeError);
  expect(ofClient('10.7.207.9')).toBe('deny');
});
