import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionTable } from './connectionTable.ts';
import { admit, type Places } from './tcpAdmission.ts';

interface Connection {
  readonly client: string;
  readonly number: number;
  busy: boolean;
}

/** The table as the relay keeps it: whoever gives way goes at once where it is idle, and else when it is answered. */
class House {
  readonly table = new ConnectionTable<Connection>();
  readonly leaving = new Set<Connection>();
  readonly #places: Places | undefined;
  #number = 0;

  /** Those of the relay where left out. */
  constructor(places?: Places) {
    this.#places = places;
  }

  admit(client: string): ReturnType<typeof admit<Connection>> {
    return admit(this.table, client, this.#places);
  }

  open(client: string, busy = false): Connection | undefined {
    const admission = this.admit(client);
    if (!admission.admitted) return undefined;
    const { givesWay } = admission;
    if (givesWay?.busy) {
      this.leaving.add(givesWay);
      this.table.postpone(givesWay);
    } else if (givesWay !== undefined) this.table.remove(givesWay);
    const connection = { client, number: this.#number++, busy };
    this.table.add(connection);
    this.table.note(connection, busy);
    return connection;
  }

  /** What has been asked is answered. */
  answer(): void {
    for (const connection of this.leaving) this.table.remove(connection);
    this.leaving.clear();
  }

  crowd(clients: number, each: number, busy: boolean): void {
    for (let i = 0; i < each; i++)
      for (let client = 0; client < clients; client++) this.open(`attacker${client}`, busy);
  }
}

describe('the places', () => {
  it.each([
    [10, 100],
    [10, 10_000],
    [17, 1000],
    [100, 100],
    [2000, 2],
  ])('of %i idle clients that open %i each leave one to every new client', (clients, each) => {
    const house = new House();
    house.crowd(clients, each, false);
    for (let i = 0; i < 500; i++) expect(house.open(`user${i}`)).toBeDefined();
    expect(house.table.size).toBeLessThanOrEqual(1000);
  });

  it.each([
    [10, 1000],
    [17, 1000],
    [100, 100],
  ])(
    'of %i clients that are busy all the time are made free for others, of those who hold most',
    (clients, each) => {
      const house = new House();
      house.crowd(clients, each, true);
      house.answer();
      for (let i = 0; i < 200; i++) {
        expect(house.open(`user${i}`, true)).toBeDefined();
        // In the time between two new clients what was asked is answered, and the attackers ask for more.
        house.answer();
        for (let client = 0; client < clients; client++) house.open(`attacker${client}`, true);
      }
      for (let i = 0; i < 200; i++) expect(house.table.heldBy(`user${i}`)).toBe(1);
    },
  );

  it('of a thousand clients with one busy connection each are made free for a new client', () => {
    const house = new House();
    house.crowd(2000, 1, true);
    house.answer();
    expect(house.open('user')).toBeDefined();
  });

  it('of one client are a hundred at most, and fewer where fewer are free', () => {
    const house = new House();
    house.crowd(1, 1000, true);
    expect(house.table.heldBy('attacker0')).toBe(100);
    house.crowd(12, 1000, true);
    for (let client = 0; client < 12; client++)
      expect(house.table.heldBy(`attacker${client}`)).toBeLessThanOrEqual(100);
    expect(house.table.size).toBeLessThanOrEqual(975);
  });

  it('never go to another client while one that holds more has an idle one, nor from one that holds fewer', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ client: fc.nat(12), busy: fc.boolean(), times: fc.integer({ min: 1, max: 12 }) }),
          {
            minLength: 10,
            maxLength: 60,
          },
        ),
        (steps) => {
          const house = new House({ capacity: 40, perClient: 10, reserved: 5 });
          for (const { client, busy, times } of steps)
            for (let i = 0; i < times; i++) {
              const before = new Map(
                [...house.table.all()].map((one) => [one, house.table.heldBy(one.client)]),
              );
              const held = house.table.heldBy(`${client}`);
              const admission = house.admit(`${client}`);
              expect(house.open(`${client}`, busy) === undefined).toBe(!admission.admitted);
              if (held === 0)
                expect(admission.admitted || [...before.keys()].every((one) => one.busy)).toBe(true);
              if (admission.admitted && admission.givesWay !== undefined) {
                const loser = before.get(admission.givesWay) ?? 0;
                expect(admission.givesWay.client === `${client}` || loser > held).toBe(true);
              }
              expect(house.table.size).toBeLessThanOrEqual(40);
            }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are given up by the longest idle first', () => {
    const house = new House();
    const mine = Array.from({ length: 100 }, () => house.open('one'));
    const [first, second] = mine;
    if (first === undefined || second === undefined) throw new Error('there is room for a hundred');
    house.table.note(first, true);
    house.table.note(first, false);
    expect(admit(house.table, 'one')).toEqual({ admitted: true, givesWay: second });
  });
});

it('the table counts what it holds, whatever is added, removed and noted', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.constantFrom('add', 'remove', 'busy', 'idle', 'postpone'), fc.nat(9))),
      (steps) => {
        const table = new ConnectionTable<Connection>();
        const held = new Set<Connection>();
        const all = Array.from({ length: 10 }, (_, number) => ({
          client: `${number % 4}`,
          number,
          busy: false,
        }));
        for (const [, what, index] of steps) {
          const one = all[index];
          if (one === undefined) continue;
          if (what === 'add' && !held.has(one)) {
            table.add(one);
            held.add(one);
            one.busy = false;
          } else if (what === 'remove') {
            table.remove(one);
            held.delete(one);
          } else if (what === 'postpone') table.postpone(one);
          else if (what !== 'add') {
            table.note(one, what === 'busy');
            if (held.has(one)) one.busy = what === 'busy';
          }
          expect(table.size).toBe(held.size);
          expect(new Set(table.all())).toEqual(held);
          for (const { client } of all)
            expect(table.heldBy(client)).toBe([...held].filter((other) => other.client === client).length);
          expect(table.longestIdle(0) === undefined).toBe([...held].every(({ busy }) => busy));
          expect(table.longestBusy(0) === undefined).toBe([...held].every(({ busy }) => !busy));
        }
      },
    ),
  );
});
