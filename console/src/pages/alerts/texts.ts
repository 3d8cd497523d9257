type Alerts = Schemas['Alerts'];
export type Webhook = Alerts['webhooks'][number];
export type Alert = Alerts['history'][number];

export const kindText = (kind: string): string => kind.replaceAll('_', ' ');

const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  ENOTFOUND: 'host name not found',
  ETIMEDOUT: 'no response',
};
export const reasonText = (reason = ''): string => CONNECTION_ERRORS[reason] ?? reason;

/** Returns the alerts whose problem lasts, newest first. */
export function openAlerts(history: readonly Alert[]): readonly Alert[] {
  const ended = new Set(history.filter(({ state }) => state === 'resolved').map(({ incident }) => incident));
  return history.filter(
    ({ kind, state, incident }) => kind !== 'test' && state === 'firing' && !ended.has(incident),
  );
}

/** Returns the first line of the page: failing webhooks first, then problems that last. */
export function alertsHeadline({ webhooks, history }: Alerts): {
  readonly text: string;
  readonly isWell: boolean;
} {
  const not = (text: string) => ({ text, isWell: false });
  if (webhooks.length === 0) return not('No webhook is configured, so no alert is sent.');
  const failing = webhooks.flatMap(({ name, last_attempt: last }) => (last?.delivered === false ? name : []));
  if (failing.length > 0) return not(`${failing.join(', ')} did not accept the last alert.`);
  const open = openAlerts(history).map(({ kind, subject }) => `${kindText(kind)} (${subject})`);
  const more = open.length > 3 ? ` and ${open.length - 3} more` : '';
  if (open.length > 0) return not(`Firing: ${open.slice(0, 3).join(', ')}${more}.`);
  return { text: 'No alert is firing.', isWell: true };
}

import type { Schemas } from '../../api/types.ts';
