import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FilterIndex, type ItemValues, type WantedValues } from './filterIndex.ts';

/** Values of each position. They are few, so that most filters have values in common. */
const VALUES = ['a', 'b', 'c', 'd'];
const wanted: fc.Arbitrary<WantedValues> = fc.array(
  fc.option(
    fc.subarray(VALUES, { minLength: 1 }).map((values) => new Set(values)),
    { nil: undefined },
  ),
  { maxLength: 5 },
);
/** Items as logs have them, with one value in each position, or as traces have them, with two. */
const item: fc.Arbitrary<ItemValues> = fc.oneof(
  fc.array(
    fc.constantFrom(...VALUES).map((value) => [value]),
    { maxLength: 5 },
  ),
  fc.array(fc.subarray(VALUES, { maxLength: 2 }), { minLength: 1, maxLength: 2 }),
);

interface Client {
  readonly name: string;
}

interface Filter {
  readonly client: Client;
  readonly wanted: WantedValues;
}

type Index = FilterIndex<Client, Filter>;

const CLIENTS: readonly [Client, ...Client[]] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
const [CLIENT] = CLIENTS;

const matchesOf = (index: Index, values: ItemValues): readonly Filter[] =>
  [...index.clients(values)]
    .flatMap((client) => (client === undefined ? [] : [...index.matches(client, values)]))
    .filter((filter) => filter !== undefined);

const isMatch = (filter: WantedValues, values: ItemValues): boolean =>
  filter.every((set, i) => set === undefined || values[i]?.some((value) => set.has(value)) === true);

it('finds each filter that a scan of all filters finds, once, while filters are added and removed', () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ add: wanted, client: fc.constantFrom(...CLIENTS) }) },
    { weight: 1, arbitrary: fc.record({ remove: fc.nat() }) },
    { weight: 6, arbitrary: fc.record({ item }) },
  );
  fc.assert(
    fc.property(fc.array(step, { size: 'large', maxLength: 100 }), (steps) => {
      const index: Index = new FilterIndex();
      const filters: (Filter & { remove: () => void })[] = [];
      for (const one of steps)
        if ('add' in one) {
          const filter = { wanted: one.add, client: one.client, remove: (): void => undefined };
          filter.remove = index.add(filter);
          filters.push(filter);
        } else if ('remove' in one) {
          if (filters.length > 0) filters.splice(one.remove % filters.length, 1)[0]?.remove();
        } else {
          const found = matchesOf(index, one.item);
          expect(found).toHaveLength(new Set(found).size);
          expect([...index.clients(one.item)].filter((client) => client !== undefined)).toHaveLength(
            new Set(found.map(({ client }) => client)).size,
          );
          expect(new Set(found)).toEqual(
            new Set(filters.filter((filter) => isMatch(filter.wanted, one.item))),
          );
        }
    }),
  );
});

it('compares items with few of the filters that share a frequent value, whichever other value they have', () => {
  const FILTERS = 1_000;
  for (const position of [0, 1, 2]) {
    const index: Index = new FilterIndex();
    for (let i = 0; i < FILTERS; i++) {
      const own = new Set(Array.from({ length: 10 }, (_, k) => `${i} ${k}`));
      index.add({
        client: CLIENT,
        wanted: [0, 1, 2].map((at) => (at === position ? own : new Set(['frequent']))),
      });
    }
    const item = [0, 1, 2].map((at) => [at === position ? '7 3' : 'frequent']);
    // Filters move to their own values after as many misses as they have such values.
    for (let i = 0; i < 20; i++) matchesOf(index, item);
    expect([...index.matches(CLIENT, item)]).toHaveLength(1);
  }
});

it('is empty when all filters are removed, also if they moved', () => {
  const index: Index = new FilterIndex();
  const removals = [['x'], ['y', 'z'], undefined].map((values) =>
    index.add({ client: CLIENT, wanted: [new Set(['a']), values && new Set(values)] }),
  );
  const items = ['x', 'y', 'none'].map((value) => [['a'], [value]]);
  for (let i = 0; i < 10; i++) for (const item of items) matchesOf(index, item);
  for (const remove of removals) remove();
  for (const item of items) expect([...index.clients(item), ...index.matches(CLIENT, item)]).toEqual([]);
  for (const value of ['a', 'x', 'y', 'z']) expect(index.has(0, value) || index.has(1, value)).toBe(false);
});
