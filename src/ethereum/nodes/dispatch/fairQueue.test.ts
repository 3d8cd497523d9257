import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { NodeBudget } from '../client/nodeBudget.ts';
import { BudgetExceededError, FairQueue } from './fairQueue.ts';

const FOREVER_MS = 1_000_000;
const MAX_WAITING = 1_024;

function turnsOf(waitMs = FOREVER_MS) {
  const budget = { left: 0 };
  const log: string[] = [];
  const turns = new FairQueue({ waitMs, callsLeft: () => budget.left, untilNextMs: () => 0 });
  const ask = (client: string): void => {
    turns.acquire(client)?.then(
      () => {
        budget.left--;
        log.push(client);
      },
      (error: unknown) => log.push(`${client} ${error instanceof BudgetExceededError ? 'refused' : error}`),
    );
  };
  return { budget, log, turns, ask };
}

describe('fair queue under a budget', () => {
  it('serves one call of each client in turn, so a flood delays only its own client', async () => {
    const { budget, log, ask } = turnsOf();
    for (let i = 0; i < 100; i++) ask('flood');
    for (const client of ['one', 'two', 'one']) ask(client);
    budget.left = 6;
    await until('six had their turn', () => log.length >= 6);
    expect(log).toEqual(['flood', 'one', 'two', 'flood', 'one', 'flood']);
    budget.left = Number.POSITIVE_INFINITY;
    await until('all had their turn', () => log.length === 103);
  });

  it('a full queue evicts a call of the flood when another client arrives', async () => {
    const { budget, log, ask } = turnsOf();
    for (let i = 0; i < MAX_WAITING; i++) ask('flood');
    ask('flood');
    ask('quiet');
    await until('two of the flood are refused', () => log.length === 2);
    expect(log).toEqual(['flood refused', 'flood refused']);
    budget.left = Number.POSITIVE_INFINITY;
    await until('all others had their turn', () => log.length === MAX_WAITING + 2);
    expect(log.indexOf('quiet')).toBe(3);
  });

  it('grants immediately if budget is left and no call waits, and rejects after the timeout', async () => {
    const { budget, turns, log, ask } = turnsOf(1);
    budget.left = 1;
    expect(turns.acquire('one')).toBeUndefined();
    budget.left = 0;
    ask('one');
    await until('it is refused', () => log.length === 1);
    expect(log).toEqual(['one refused']);
  });
});

describe('the budget of a node', () => {
  it('reserves a share for polls and ingest, and their overdraft is paid before clients continue', () => {
    const budget = new NodeBudget({ callsPerSecond: 10 });
    expect(budget.callsLeft('firstTry')).toBe(8);
    expect(budget.callsLeft('retry')).toBe(10);
    expect(budget.callsLeft('background')).toBe(5);
    budget.takeCalls(30);
    expect(budget.callsLeft('retry')).toBe(0);
    expect(budget.waitMs('retry')).toBeGreaterThan(1_900);
    expect(budget.waitMs('firstTry')).toBeGreaterThan(budget.waitMs('retry'));
  });

  it('charges received bytes to the byte budget', () => {
    const budget = new NodeBudget({ bytesPerSecond: 1_000 });
    expect(budget.callsLeft('firstTry')).toBe(Number.POSITIVE_INFINITY);
    budget.takeBytes(900);
    expect(budget.callsLeft('firstTry')).toBe(0);
    expect(NodeBudget.of({})).toBeUndefined();
  });
});
