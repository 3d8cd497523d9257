import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sink } from './sink.ts';
import { type ItemFilter, Subscribers } from './subscribers.ts';

interface Item {
  readonly values: readonly (readonly string[])[];
  readonly text: string;
}

const VALUES = ['a', 'b', 'c'];
const wanted = fc.array(
  fc.option(
    fc.subarray(VALUES, { minLength: 1 }).map((values) => new Set(values)),
    { nil: undefined },
  ),
  { maxLength: 4 },
);
const logs = fc.array(
  fc.array(
    fc.constantFrom(...VALUES).map((value) => [value]),
    { minLength: 1, maxLength: 4 },
  ),
  { maxLength: 8 },
);
/** What happens between two steps of a delivery: a subscription begins or ends. */
const meanwhile = fc.record({
  afterSteps: fc.nat({ max: 40 }),
  what: fc.oneof(fc.record({ begin: wanted }), fc.record({ end: fc.nat() })),
});
const change = fc.record({
  undo: fc.nat({ max: 3 }),
  blocks: fc.array(logs, { maxLength: 3 }),
  meanwhile: fc.array(meanwhile),
});

/** A subscription with what it received, and what it must have received if it had not ended in between. */
interface Tested {
  readonly filter: ItemFilter<Item>;
  readonly received: string[];
  readonly expected: string[];
  readonly since: number;
  end: (() => void) | undefined;
}

const accepts = (): boolean => true;
const isWanted = ({ wanted }: ItemFilter<Item>, { values }: Item): boolean =>
  wanted.every((set, i) => set === undefined || values[i]?.some((value) => set.has(value)) === true);

/** Subscribers and a model of them: a scan of all subscriptions for each item. */
class Model {
  readonly subscribers = new Subscribers<Item>();
  readonly tested: Tested[] = [];
  readonly #chain: { readonly moment: number; readonly items: readonly Item[] }[] = [];
  #changes = 0;
  #items = 0;

  begin(wanted: ItemFilter<Item>['wanted']): void {
    const filter = { wanted, accepts };
    const one: Tested = { filter, received: [], expected: [], since: this.#changes, end: undefined };
    const sink: Sink = {
      client: String(this.tested.length % 3),
      push(text) {
        if (one.end === undefined) throw new Error('a notification after the end of the subscription');
        one.received.push(text);
      },
      missed: () => undefined,
    };
    one.end = this.subscribers.add(filter, sink);
    this.tested.push(one);
  }

  end(number: number): void {
    const open = this.tested.filter(({ end }) => end !== undefined);
    // One subscription stays, because without any, sent items are forgotten.
    const one = open.length > 1 ? open[1 + (number % (open.length - 1))] : undefined;
    one?.end?.();
    if (one !== undefined) one.end = undefined;
  }

  *change(undo: number, blocks: readonly (readonly Item['values'][])[]): Generator<void> {
    const moment = this.subscribers.moment();
    this.#changes++;
    const undone = this.#chain.splice(Math.max(0, this.#chain.length - undo)).reverse();
    for (const block of undone)
      for (const item of [...block.items].reverse()) this.#expect(item, block.moment, true);
    if (undone.length > 0) yield* this.subscribers.sendRemoved(this.#chain.length);
    for (const block of blocks) {
      const items = block.map((values) => ({ values, text: `{"item":${this.#items++}}` }));
      for (const item of items) this.#expect(item, moment, false);
      this.#chain.push({ moment, items });
      yield* this.subscribers.send({ blockNumber: this.#chain.length - 1, moment }, items);
      if (this.#items % 2 === 0) yield* this.subscribers.deliver();
    }
  }

  #expect(item: Item, moment: number, removed: boolean): void {
    for (const { filter, since, expected, end } of this.tested)
      if (end !== undefined && since <= moment && isWanted(filter, item))
        expected.push(`${item.text.slice(0, -1)},"removed":${removed}}`);
  }
}

/** Returns a sink that appends its client, or `missed`, to a list. */
const clientOf = (client: string, order: string[]): Sink => ({
  client,
  push: () => void order.push(client),
  missed: () => void order.push('missed'),
});

const itemsOf = (length: number): Item[] =>
  Array.from({ length }, () => ({ values: [['a']], text: '{"a":1}' }));

function sendAll(subscribers: Subscribers<Item>, blockNumber: number, items: Iterable<Item>): void {
  for (const _ of subscribers.send({ blockNumber, moment: subscribers.moment() }, items));
}

describe('Subscribers', () => {
  it('receive exactly what a scan of all subscriptions finds, in order, through reorganisations', () => {
    fc.assert(
      fc.property(
        fc.array(wanted, { maxLength: 12 }),
        fc.array(change, { maxLength: 8 }),
        (first, changes) => {
          const model = new Model();
          model.begin([]);
          for (const one of first) model.begin(one);
          for (const { undo, blocks, meanwhile } of changes) {
            const events = [...meanwhile].sort((a, b) => b.afterSteps - a.afterSteps);
            let steps = 0;
            for (const _ of model.change(undo, blocks)) {
              for (; (events.at(-1)?.afterSteps ?? Number.POSITIVE_INFINITY) <= steps; events.pop()) {
                const what = events.at(-1)?.what ?? { end: 0 };
                if ('begin' in what) model.begin(what.begin);
                else model.end(what.end);
              }
              steps++;
            }
          }
          for (const _ of model.subscribers.deliver());
          for (const { received, expected, end } of model.tested)
            expect(received).toEqual(end === undefined ? expected.slice(0, received.length) : expected);
        },
      ),
    );
  });

  it('of one client with many subscriptions receive no more at a time than another client', () => {
    const subscribers = new Subscribers<Item>();
    const order: string[] = [];
    for (let i = 0; i < 100; i++) subscribers.add({ wanted: [], accepts }, clientOf('greedy', order));
    subscribers.add({ wanted: [], accepts }, clientOf('other', order));
    sendAll(subscribers, 1, itemsOf(10));
    for (const _ of subscribers.deliver());
    expect(order).toHaveLength(1_010);
    expect(order.lastIndexOf('other')).toBeLessThan(20);
  });

  it('are found in a few steps for each item and client, however many subscriptions a client has', () => {
    const subscribers = new Subscribers<Item>();
    for (let i = 0; i < 700; i++) {
      subscribers.add({ wanted: [], accepts }, clientOf('greedy', []));
      subscribers.add({ wanted: [new Set(['a', `${i}`])], accepts }, clientOf('another', []));
    }
    let steps = 0;
    const moment = subscribers.moment();
    for (const _ of subscribers.send({ blockNumber: 1, moment }, itemsOf(10))) steps++;
    expect(steps).toBeLessThan(50);
  });

  it('send large items in parts, so that few of them are in memory at the same time', () => {
    const subscribers = new Subscribers<Item>();
    let received = 0;
    let made = 0;
    let waiting = 0;
    subscribers.add(
      { wanted: [], accepts },
      { client: 'a', push: () => void received++, missed: () => undefined },
    );
    function* items(): Generator<Item> {
      for (; made < 100; made++) {
        waiting = Math.max(waiting, made - received);
        yield { values: [['a']], text: JSON.stringify({ a: 'x'.repeat(1024 * 1024) }) };
      }
    }
    sendAll(subscribers, 1, items());
    for (const _ of subscribers.deliver());
    expect([received, made]).toEqual([100, 100]);
    expect(waiting).toBeLessThan(10);
  });

  it('receive later blocks in their turn, while a client with many subscriptions waits for earlier ones', () => {
    const subscribers = new Subscribers<Item>();
    const order: string[] = [];
    for (let i = 0; i < 100; i++) subscribers.add({ wanted: [], accepts }, clientOf('greedy', order));
    subscribers.add({ wanted: [], accepts }, clientOf('other', order));
    const delivery = subscribers.deliver();
    for (let block = 1; block <= 5; block++) {
      sendAll(subscribers, block, itemsOf(10));
      for (let i = 0; i < 30; i++) delivery.next();
      expect(order.filter((client) => client === 'other')).toHaveLength(10 * block);
    }
    for (const _ of delivery);
    expect(order).toHaveLength(5 * 1_010);
    expect(order).not.toContain('missed');
  });

  it('are told that they missed notifications if too much waits and theirs are late, the client with most first', () => {
    const subscribers = new Subscribers<Item>({ limits: { items: 20, bytes: 1_000_000, lateMs: 0 } });
    const [greedy, other] = [[] as string[], [] as string[]];
    for (let i = 0; i < 100; i++) subscribers.add({ wanted: [], accepts }, clientOf('greedy', greedy));
    sendAll(subscribers, 1, itemsOf(15));
    subscribers.add({ wanted: [], accepts }, clientOf('other', other));
    expect([greedy, other]).toEqual([[], []]);
    sendAll(subscribers, 2, itemsOf(9));
    expect(greedy).toEqual(Array.from({ length: 100 }, () => 'missed'));
    for (const _ of subscribers.deliver());
    expect(other).toEqual(Array.from({ length: 9 }, () => 'other'));
  });

  it('are told that they missed notifications, even if withdrawn items of earlier changes wait after them', () => {
    const subscribers = new Subscribers<Item>({ limits: { items: 20, bytes: 1_000_000, lateMs: 0 } });
    const [early, late] = [[] as string[], [] as string[]];
    subscribers.add({ wanted: [], accepts }, clientOf('one', early));
    sendAll(subscribers, 1, itemsOf(5));
    subscribers.add({ wanted: [], accepts }, clientOf('one', late));
    sendAll(subscribers, 2, itemsOf(5));
    for (const _ of subscribers.sendRemoved(1));
    sendAll(subscribers, 1, itemsOf(5));
    expect([early, late]).toEqual([['missed'], ['missed']]);
  });

  it('miss nothing that is not late, however much waits', () => {
    const subscribers = new Subscribers<Item>({ limits: { items: 20, bytes: 1_000_000, lateMs: 60_000 } });
    const order: string[] = [];
    for (let i = 0; i < 100; i++) subscribers.add({ wanted: [], accepts }, clientOf('greedy', order));
    sendAll(subscribers, 1, itemsOf(100));
    for (const _ of subscribers.deliver());
    expect(order).toEqual(Array.from({ length: 10_000 }, () => 'greedy'));
  });
});
