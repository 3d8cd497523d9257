import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionTable, type ConnectionUse, type HeldConnection } from './connectionTable.ts';

const nothing = (): void => undefined;

/** Returns a table with connections in this order, each an address with a use. */
function tableOf(...entries: readonly [string, ConnectionUse][]) {
  const table = new ConnectionTable();
  const connections = entries.map(([address, use]) => {
    const connection = table.add(address, nothing);
    connection.use = use;
    return connection;
  });
  return { table, connections };
}

describe('a table of connections', () => {
  it('replaces the longest idle connection of the client with most connections', () => {
    const { table, connections } = tableOf(['a', 'idle'], ['b', 'busy'], ['b', 'idle'], ['b', 'idle']);
    expect(table.replaceableFor('c')).toBe(connections[2]);
  });

  it('replaces idle connections of smaller clients before busy ones of the largest', () => {
    const { table, connections } = tableOf(['a', 'busy'], ['a', 'busy'], ['a', 'busy'], ['b', 'idle']);
    expect(table.replaceableFor('c')).toBe(connections[3]);
  });

  it('replaces the longest busy connection of the largest client, and one with subscriptions last', () => {
    const { table, connections } = tableOf(['a', 'live'], ['a', 'live'], ['b', 'live'], ['a', 'busy']);
    expect(table.replaceableFor('c')).toBe(connections[3]);
    table.remove(connections[3] as HeldConnection);
    expect(table.replaceableFor('c')).toBe(connections[0]);
  });

  it('replaces no busy connection of a client that would then have fewer than the other', () => {
    const { table } = tableOf(['a', 'busy'], ['b', 'busy'], ['b', 'busy'], ['c', 'busy']);
    expect(table.replaceableFor('c')).toBeUndefined();
    expect(table.replaceableFor('d')?.address).toBe('b');
  });

  it('replaces no idle connection of a client with as few connections, but one of the same client', () => {
    const { table, connections } = tableOf(['a', 'idle'], ['b', 'busy'], ['c', 'idle']);
    expect(table.replaceableFor('b')).toBeUndefined();
    expect(table.replaceableFor('c')).toBe(connections[2]);
    expect(table.replaceableFor('d')).toBe(connections[0]);
  });

  it('moves a connection that becomes idle to the end of its client', () => {
    const { table, connections } = tableOf(['a', 'idle'], ['a', 'idle']);
    const [first, second] = connections as [HeldConnection, HeldConnection];
    first.use = 'busy';
    first.use = 'idle';
    expect(table.longestIdleOf('a')).toBe(second);
  });

  it('forgets removed connections', () => {
    const { table, connections } = tableOf(['a', 'idle']);
    const [first] = connections as [HeldConnection];
    expect([table.remove(first), table.remove(first)]).toEqual([true, false]);
    first.use = 'busy';
    expect(table.longestIdleOf('a')).toBeUndefined();
    expect(table.replaceableFor('b')).toBeUndefined();
  });

  it('selects from a largest client after any history', () => {
    const step = fc.record({
      address: fc.constantFrom('a', 'b', 'c'),
      use: fc.constantFrom<ConnectionUse>('idle', 'busy', 'live'),
      removes: fc.boolean(),
      at: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const table = new ConnectionTable();
        const open: HeldConnection[] = [];
        for (const { address, use, removes, at } of steps) {
          const [other] = removes ? open.splice(at % (open.length || 1), 1) : [];
          if (other !== undefined) table.remove(other);
          else {
            const added = table.add(address, nothing);
            added.use = use;
            open.push(added);
          }
        }
        const sizeOf = (address: string): number => open.filter((one) => one.address === address).length;
        const idle = open.filter(({ use }) => use === 'idle');
        const among = idle.length > 0 ? idle : open;
        const largest = Math.max(0, ...among.map(({ address }) => sizeOf(address)));
        const found = table.replaceableFor('d');
        if (idle.length === 0 && largest < 2) expect(found).toBeUndefined();
        else {
          expect(among).toContain(found);
          expect(sizeOf(found?.address ?? '')).toBe(largest);
        }
      }),
    );
  });
});
