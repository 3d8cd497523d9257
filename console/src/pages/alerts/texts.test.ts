import { expect, it } from 'vitest';
import { type Alert, alertsHeadline, openAlerts } from './texts.ts';

const alert = (incident: string, state: Alert['state'], kind = 'node_unhealthy'): Alert => ({
  id: `${incident} ${state}`,
  incident,
  kind,
  state,
  subject: 'node-1',
  text: '',
  at: '',
  delivered: [],
});
const webhook = { name: 'webhook-1', host: 'h', form: 'json', waiting: 0 } as const;
const of = (history: readonly Alert[], more: object = {}) =>
  alertsHeadline({ webhooks: [{ ...webhook, ...more }], is_signed: true, history: [...history] }).text;

it('an alert is open until its incident is resolved; a test never is', () => {
  const open = openAlerts([
    alert('b', 'firing'),
    alert('a', 'resolved'),
    alert('a', 'firing'),
    alert('t', 'firing', 'test'),
  ]);
  expect(open.map(({ incident }) => incident)).toEqual(['b']);
});

it('the headline names failing webhooks before open alerts', () => {
  expect(alertsHeadline({ webhooks: [], is_signed: false, history: [] }).text).toContain('no alert is sent');
  expect(of([])).toBe('No alert is firing.');
  expect(of([alert('b', 'firing')])).toBe('Firing: node unhealthy (node-1).');
  const failed = { last_attempt: { at: '', delivered: false, reason: 'ECONNREFUSED' } };
  expect(of([alert('b', 'firing')], failed)).toBe('webhook-1 did not accept the last alert.');
});
