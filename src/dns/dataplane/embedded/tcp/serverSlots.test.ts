import { describe, expect, it } from 'vitest';
import { ServerSlots, type ServerSlotUser } from './serverSlots.ts';

const CAPACITY = 12;

/** Connections that stay busy until they are asked to release their slot `whenAsked`. */
function setUp(whenAsked: 'release' | 'stay busy' = 'stay busy') {
  const slots = new ServerSlots<ServerSlotUser>(CAPACITY);
  const granted: ServerSlotUser[] = [];
  const asked: ServerSlotUser[] = [];
  const open = (client: string): ServerSlotUser => {
    const connection: ServerSlotUser = {
      client,
      onSlotGranted: () => void granted.push(connection),
      requestRelease: () => {
        asked.push(connection);
        if (whenAsked === 'release') slots.release(connection);
      },
    };
    slots.request(connection);
    return connection;
  };
  return {
    slots,
    granted,
    asked,
    several: (count: number, client: string) => Array.from({ length: count }, () => open(client)),
  };
}

describe('the slots for connections to DNS servers', () => {
  it('leave one client at most half, so that another client waits for none', () => {
    const { slots, granted, several } = setUp();
    several(100, 'greedy');
    expect(slots.used).toBe(CAPACITY / 2);
    const [other] = several(1, 'other');
    expect(granted).toContain(other);
  });

  it('go to a connection that waits when its client releases another', () => {
    const { slots, granted, several } = setUp();
    const [first, ...others] = several(CAPACITY, 'a');
    if (first !== undefined) slots.release(first);
    expect(slots.used).toBe(CAPACITY / 2);
    expect(granted).toContain(others[CAPACITY / 2 - 1]);
  });

  it('of a client at its share are released by its own idle connections first', () => {
    const { slots, granted, asked, several } = setUp('release');
    const [idleLonger] = several(CAPACITY / 2, 'b');
    const [first] = several(CAPACITY / 4, 'a');
    for (const idle of [idleLonger, first]) if (idle !== undefined) slots.touch(idle, false);
    const [another] = several(1, 'a');
    expect(asked).toEqual([first]);
    expect(granted).toContain(another);
  });

  it('go to the client with the fewest if all are used', () => {
    const { slots, granted, several } = setUp();
    const busy = Array.from({ length: CAPACITY }, (_, i) => several(1, `client ${i}`)).flat();
    several(1, 'client 1');
    const [other] = several(1, 'other');
    expect(slots.used).toBe(CAPACITY);
    if (busy[0] !== undefined) slots.release(busy[0]);
    expect(granted.at(-1)).toBe(other);
  });

  it('of a client are not released for a client that has more', () => {
    const { slots, asked, several } = setUp();
    const [polite] = several(1, 'polite');
    several(CAPACITY, 'greedy');
    if (polite !== undefined) for (const isBusy of [false, true, false]) slots.touch(polite, isBusy);
    several(1, 'greedy');
    expect(asked).not.toContain(polite);
  });

  it('of a client are released for its own connection if no other client has more', () => {
    const { slots, granted, several } = setUp('release');
    const [first] = Array.from({ length: CAPACITY }, (_, i) => several(1, `client ${i}`)).flat();
    if (first !== undefined) slots.touch(first, false);
    const [second] = several(1, 'client 0');
    expect(granted).toContain(second);
  });

  it('go to each waiting connection once', () => {
    const { slots, granted, several } = setUp();
    const all = [...several(CAPACITY, 'a'), ...several(CAPACITY, 'b')];
    for (const connection of all) slots.release(connection);
    expect(new Set(granted).size).toBe(all.length);
    expect(granted).toHaveLength(all.length);
    expect(slots.used).toBe(0);
  });
});
