import { Counter, Histogram, Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { HealthHistory } from './healthHistory.ts';

const opened: HealthHistory[] = [];
afterEach(() => {
  for (const history of opened.splice(0)) history.stop();
});

function historyOf(registry: Registry, minutesKept = 5): HealthHistory {
  const history = new HealthHistory(
    { intervalMs: 5, minutesKept },
    {
      dataDir: '',
      metrics: () => registry,
      ethereum: undefined,
      dns: undefined,
      readiness: () => ({ ready: true, checks: {} }),
    },
  );
  opened.push(history);
  return history;
}

const answersIn = (minute: object | undefined) => (minute as { answers?: Record<string, number> }).answers;

it('each minute contains the counts of that minute, not of the time since startup', async () => {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: 'floodgate_http_responses_total',
    help: 'x',
    labelNames: ['status'],
    registers,
  });
  answers.inc({ status: '200' }, 100);
  const history = historyOf(registry, 1_000);
  await until('the first minute is recorded', () => history.minutes.length > 0);
  answers.inc({ status: '200' }, 3);
  answers.inc({ status: '503' });
  const counted = () => history.minutes.map(answersIn).filter((one) => Object.keys(one ?? {}).length > 0);
  await until('the counts are recorded', () => counted().length > 0);
  const before = history.minutes.length;
  await until('more minutes are recorded', () => history.minutes.length > before + 2);
  expect(counted()).toEqual([{ '200': 3, '503': 1 }]);
});

it('the history keeps a bounded number of minutes', async () => {
  const registry = new Registry();
  const history = historyOf(registry);
  await until('the history is full', () => history.minutes.length === 5);
  const first = history.minutes[0];
  await until('the oldest minute is removed', () => !history.minutes.includes(first as never));
  expect(history.minutes).toHaveLength(5);
  const times = history.minutes.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
});

it('the history continues after a minute that could not be recorded', async () => {
  const registry = new Registry();
  let isBroken = true;
  new Histogram({
    name: 'floodgate_gateway_call_duration_seconds',
    help: 'x',
    registers: [registry],
    collect() {
      if (isBroken) throw new Error('broken');
    },
  });
  const history = historyOf(registry);
  isBroken = false;
  await until('a minute is recorded', () => history.minutes.length > 0);
});
