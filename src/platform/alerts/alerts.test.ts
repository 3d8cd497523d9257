import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlertReceiver, startAlertReceiver } from '../../../test/support/alertReceiver.ts';
import { until } from '../../../test/support/until.ts';
import { type Alert, testAlert } from './alert.ts';
import { Alerts, type AlertsOptions } from './alerts.ts';
import { bodyOf, webhookOf } from './webhook.ts';

const SECRET_PATH = '/services/T0/B0/secret';
let folder: string;
let open: Array<{ stop(): Promise<void> }>;
let lines: string[];
let registry: Registry;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-alerts-'));
  open = [];
  lines = [];
});
afterEach(async () => {
  for (const one of open.reverse()) await one.stop();
  rmSync(folder, { recursive: true, force: true });
});

const receiverOf = async (...respond: Parameters<typeof startAlertReceiver>): Promise<AlertReceiver> => {
  const receiver = await startAlertReceiver(...respond);
  open.push(receiver);
  return receiver;
};
async function alertsTo(urls: readonly string[], options: Partial<AlertsOptions> = {}): Promise<Alerts> {
  const webhooks = urls.flatMap((url, i) => webhookOf(`${url}${SECRET_PATH}`, `webhook-${i + 1}`) ?? []);
  const line = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  registry = new Registry();
  const alerts = await Alerts.open(
    { webhooks, allowPrivate: true, folder, firstRetryMs: 10, ...options },
    { log: { info: line, warn: line, error: line }, metrics: registry },
  );
  open.push(alerts);
  return alerts;
}
const reported = (name: string): boolean => lines.some((line) => line.startsWith(name));
const condition = (subject: string) => ({
  key: `test/${subject}`,
  kind: 'test',
  subject,
  text: `${subject} began.`,
});
const FAILS = 'http://127.0.0.1:9';

describe('alerts', () => {
  it('have a history of the last 100 with their deliveries, which survives a restart', async () => {
    const receiver = await receiverOf();
    const first = await alertsTo([FAILS, receiver.url]);
    for (let i = 0; i < 102; i++) first.begin(condition(`c${i}`));
    await until('all are delivered', () => receiver.requests.length === 102);
    await until('the last delivery is recorded', () => first.report().history[0]?.delivered.length === 1);
    const { webhooks, history, is_signed } = first.report();
    expect(webhooks).toMatchObject([
      {
        name: 'webhook-1',
        host: '127.0.0.1:9',
        waiting: 102,
        last_attempt: { delivered: false, reason: 'ECONNREFUSED' },
      },
      { name: 'webhook-2', waiting: 0, last_attempt: { delivered: true } },
    ]);
    expect(is_signed).toBe(false);
    expect(history.map(({ subject }) => subject)).toEqual(
      Array.from({ length: 100 }, (_, i) => `c${101 - i}`),
    );
    expect(history[0]).not.toHaveProperty('details');
    await first.stop();
    const second = await alertsTo([FAILS, receiver.url]);
    expect(second.report().history).toEqual(history);
  });

  it('share one test if it is asked for twice at once', async () => {
    const receiver = await receiverOf();
    const alerts = await alertsTo([receiver.url, FAILS]);
    const results = await Promise.all([alerts.test(testAlert('a')), alerts.test(testAlert('b'))]);
    expect(results[0]).toBe(results[1]);
    expect(results[0]).toMatchObject([
      { webhook: 'webhook-1', delivered: true },
      { webhook: 'webhook-2', delivered: false, reason: 'ECONNREFUSED' },
    ]);
    expect(receiver.alerts()).toMatchObject([{ kind: 'test', subject: 'a' }]);
    expect(alerts.report().history).toMatchObject([{ kind: 'test', delivered: ['webhook-1'] }]);
  });

  it('are delivered in order with their ids, also after failures', async () => {
    const receiver = await receiverOf((response, count) => response.writeHead(count <= 2 ? 500 : 200).end());
    const alerts = await alertsTo([receiver.url]);
    alerts.begin(condition('a'));
    alerts.begin(condition('a'));
    alerts.end('test/a', { text: 'a is over.', details: { seconds: 3 } });
    alerts.end('test/a', { text: 'again' });
    alerts.end('test/b', { text: 'it never began' });
    await until('both have arrived', () => receiver.requests.length === 4);
    const [first, second, third, last] = receiver.alerts();
    expect(first).toMatchObject({
      kind: 'test',
      state: 'firing',
      subject: 'a',
      text: 'a began.',
      details: {},
    });
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    expect(last).toMatchObject({ state: 'resolved', text: 'a is over.', details: { seconds: 3 } });
    expect(last?.incident).toBe(first?.incident);
    expect(last?.id).not.toBe(first?.id);
    await until('the queue is empty', async () =>
      (await registry.metrics()).includes('floodgate_alerts_waiting 0'),
    );
    expect(lines.filter((line) => line.startsWith('alert delivery failed'))).toHaveLength(1);
    expect(reported('alert delivery recovered')).toBe(true);
    expect(lines.join()).not.toContain('secret');
    expect(await registry.metrics()).toContain('deliveries_total{webhook="webhook-1",outcome="failed"} 2');
  });

  it('survive a restart with their ids, and an unreachable webhook does not delay others', async () => {
    const here = await receiverOf();
    const before = await alertsTo([FAILS, here.url]);
    before.begin(condition('a'));
    await until('the reachable webhook has received it', async () =>
      (await registry.metrics()).includes('{webhook="webhook-2",outcome="delivered"} 1'),
    );
    await until('it failed', () => reported('alert delivery failed'));
    await before.stop();
    expect(readFileSync(join(folder, 'alerts.json'), 'utf8')).not.toMatch(/http|secret/);
    const after = await alertsTo([FAILS, here.url]);
    expect(after.openKeys('test/')).toEqual(['test/a']);
    after.begin(condition('a'));
    after.end('test/a', { text: 'a is over.' });
    await until('the resolved message has arrived', () => here.requests.length === 2);
    expect(here.alerts()[1]?.incident).toBe(here.alerts()[0]?.incident);
    expect(await registry.metrics()).toContain('floodgate_alerts_waiting 2');
  });

  it('are sent again with the same id if their delivery is uncertain', async () => {
    const hangs = await receiverOf(() => undefined);
    const before = await alertsTo([hangs.url]);
    before.begin(condition('a'));
    await until('the request has arrived', () => hangs.requests.length === 1);
    // A kill leaves the file as it is now.
    const left = readFileSync(join(folder, 'alerts.json'));
    await before.stop();
    writeFileSync(join(folder, 'alerts.json'), left);
    await alertsTo([hangs.url]);
    await until('it is sent again', () => hangs.requests.length === 2);
    expect(hangs.alerts()[1]).toEqual(hangs.alerts()[0]);
  });

  it('are dropped, logged and counted if the queue is full, oldest first', async () => {
    const alerts = await alertsTo([FAILS], { maxWaiting: 3 });
    for (const subject of ['a', 'b', 'c', 'd', 'e']) alerts.begin(condition(subject));
    const dropped = lines.filter((line) => line.startsWith('alert dropped'));
    expect(dropped).toHaveLength(2);
    expect(dropped[0]).toContain('"subject":"a"');
    expect(dropped[1]).toContain('"subject":"b"');
    const metrics = await registry.metrics();
    expect(metrics).toContain('floodgate_alerts_waiting 3');
    expect(metrics).toContain('floodgate_alerts_dropped_total{reason="queue_full"} 2');
  });

  it('rejected by a webhook delay the others only for a few attempts', async () => {
    const receiver = await receiverOf((response, count) => response.writeHead(count <= 5 ? 400 : 200).end());
    const alerts = await alertsTo([receiver.url]);
    alerts.begin(condition('a'));
    alerts.begin(condition('b'));
    await until('the next one arrives', () => receiver.requests.length === 6);
    expect(receiver.alerts().map(({ subject }) => subject)).toEqual(['a', 'a', 'a', 'a', 'a', 'b']);
    expect(lines.find((line) => line.startsWith('alert rejected'))).toContain('"subject":"a"');
  });

  it('are delivered even if they cannot be stored, or if the stored file is unreadable', async () => {
    const receiver = await receiverOf();
    writeFileSync(join(folder, 'alerts.json'), '{"format":1,"open":[');
    const alerts = await alertsTo([receiver.url]);
    expect(reported('stored alerts unreadable')).toBe(true);
    expect(readFileSync(join(folder, 'alerts.json.unreadable'), 'utf8')).toContain('format');
    alerts.begin(condition('a'));
    await until('it arrives', () => receiver.requests.length === 1);
    writeFileSync(join(folder, 'file'), '');
    const elsewhere = await alertsTo([receiver.url], { folder: join(folder, 'file', 'alerts') });
    elsewhere.begin(condition('b'));
    await until('it arrives', () => receiver.requests.length === 2);
    expect(reported('cannot store alerts')).toBe(true);
  });

  it('for a webhook that is no longer configured are dropped', async () => {
    const before = await alertsTo([FAILS]);
    before.begin(condition('a'));
    await before.stop();
    const receiver = await receiverOf();
    await alertsTo([receiver.url]);
    expect(await registry.metrics()).toContain('floodgate_alerts_waiting 0');
    expect(receiver.requests).toEqual([]);
  });
});

it('alerts for Slack contain escaped text only', () => {
  const alert: Alert = {
    id: '1',
    incident: '2',
    kind: 'token_expires',
    at: '',
    details: {},
    state: 'firing',
    subject: '<!channel> & <https://evil.example|here>',
    text: 'ask @here',
  };
  expect(JSON.parse(bodyOf(alert, 'slack'))).toEqual({
    text: '[FIRING] token expires: &lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;\nask @\u200Bhere',
    mrkdwn: false,
  });
  expect(webhookOf('slack+https://hooks.example/x', 'w')).toMatchObject({ form: 'slack' });
});

it.each(['ftp://a', 'https://', 'slack+ftp://a', 'https://a/#b', 'https://%zz:x@a/'])(
  '%s is not a valid webhook',
  (url) => {
    expect(webhookOf(url, 'w')).toBeUndefined();
  },
);
