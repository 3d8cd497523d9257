import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionTable } from './connectionTable.ts';
import { admit, type SlotLimits } from './tcpAdmission.ts';

interface Connection {
  readonly client: string;
  readonly number: number;
  busy: boolean;
}

/** Model of the relay's table: a replaced connection closes immediately if idle, otherwise when it is answered. */
class House {
  readonly table = new ConnectionTable<Connection>();
  readonly leaving = new Set<Connection>();
  readonly #slots: SlotLimits | undefined;
  #number = 0;

  /** Default: the limits of the relay. */
  constructor(slots?: SlotLimits) {
    this.#slots = slots;
  }

  admit(client: string): ReturnType<typeof admit<Connection>> {
    return admit(this.table, client, this.#slots);
  }

  open(client: string, busy = false): Connection | undefined {
    const admission = this.admit(client);
    if (!admission.admitted) return undefined;
    const { replaced } = admission;
    if (replaced?.busy) {
      this.leaving.add(replaced);
      this.table.moveToEnd(replaced);
    } else if (replaced !== undefined) this.table.remove(replaced);
    const connection = { client, number: this.#number++, busy };
    this.table.add(connection);
    this.table.touch(connection, busy);
    return connection;
  }

  /** Answers all pending queries. */
  answer(): void {
    for (const connection of this.leaving) this.table.remove(connection);
    this.leaving.clear();
  }

  crowd(clients: number, each: number, busy: boolean): void {
    for (let i = 0; i < each; i++)
      for (let client = 0; client < clients; client++) this.open(`attacker${client}`, busy);
  }
}

describe('connection slots', () => {
  it.each([
    [10, 100],
    [10, 10_000],
    [17, 1000],
    [100, 100],
    [2000, 2],
  ])('remain for every new client while %i idle clients open %i connections each', (clients, each) => {
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
    'of the largest clients are freed for new clients while %i busy clients open %i connections each',
    (clients, each) => {
      const house = new House();
      house.crowd(clients, each, true);
      house.answer();
      for (let i = 0; i < 200; i++) {
        expect(house.open(`user${i}`, true)).toBeDefined();
        // Between two new clients, queries are answered and the attackers send more.
        house.answer();
        for (let client = 0; client < clients; client++) house.open(`attacker${client}`, true);
      }
      for (let i = 0; i < 200; i++) expect(house.table.countOf(`user${i}`)).toBe(1);
    },
  );

  it('are freed for a new client while a thousand clients have one busy connection each', () => {
    const house = new House();
    house.crowd(2000, 1, true);
    house.answer();
    expect(house.open('user')).toBeDefined();
  });

  it('are limited to half per client, and to fewer if fewer are free', () => {
    const house = new House();
    house.crowd(1, 1000, true);
    expect(house.table.countOf('attacker0')).toBe(500);
    expect(house.admit('attacker0')).toEqual({ admitted: false });
    const crowd = new House();
    crowd.crowd(12, 1000, true);
    for (let client = 0; client < 12; client++)
      expect(crowd.table.countOf(`attacker${client}`)).toBeLessThanOrEqual(77);
    expect(crowd.table.size).toBeLessThanOrEqual(950);
  });

  it('are granted to a new client unless all are busy, and never taken from a client with fewer connections', () => {
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
          const house = new House({ capacity: 40, reserved: 5 });
          for (const { client, busy, times } of steps)
            for (let i = 0; i < times; i++) {
              const before = new Map(
                [...house.table.all()].map((one) => [one, house.table.countOf(one.client)]),
              );
              const held = house.table.countOf(`${client}`);
              const admission = house.admit(`${client}`);
              expect(house.open(`${client}`, busy) === undefined).toBe(!admission.admitted);
              if (held === 0)
                expect(admission.admitted || [...before.keys()].every((one) => one.busy)).toBe(true);
              if (admission.admitted && admission.replaced !== undefined) {
                const loser = before.get(admission.replaced) ?? 0;
                expect(admission.replaced.client === `${client}` || loser > held).toBe(true);
              }
              expect(house.table.size).toBeLessThanOrEqual(40);
            }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are freed from the longest idle connection first', () => {
    const house = new House();
    const mine = Array.from({ length: 500 }, () => house.open('one'));
    const [first, second] = mine;
    if (first === undefined || second === undefined) throw new Error('expected 500 connections');
    house.table.touch(first, true);
    house.table.touch(first, false);
    expect(admit(house.table, 'one')).toEqual({ admitted: true, replaced: second });
  });
});

it('the connection table counts correctly for any sequence of operations', () => {
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
          } else if (what === 'postpone') table.moveToEnd(one);
          else if (what !== 'add') {
            table.touch(one, what === 'busy');
            if (held.has(one)) one.busy = what === 'busy';
          }
          expect(table.size).toBe(held.size);
          expect(new Set(table.all())).toEqual(held);
          for (const { client } of all)
            expect(table.countOf(client)).toBe([...held].filter((other) => other.client === client).length);
          expect(table.longestIdle(0) === undefined).toBe([...held].every(({ busy }) => busy));
          expect(table.longestBusy(0) === undefined).toBe([...held].every(({ busy }) => !busy));
        }
      },
    ),
  );
});
