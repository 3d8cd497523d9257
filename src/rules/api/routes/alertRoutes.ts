import { successEnvelope } from '../http/envelope.ts';
import type { Route } from './route.ts';

/** The alerts that this server sends to webhooks. */
export interface AlertReports {
  /** Returns the webhooks and the newest alerts, in the form of the schema `Alerts`. */
  report(): object;
  /** Sends a test alert to each webhook. Resolves with the results, in the form of the schema `AlertTest`. */
  test(): Promise<readonly object[]>;
}

const description = 'The token must be for all accounts.';

export function alertRoutes(alerts: AlertReports): Route[] {
  return [
    {
      method: 'GET',
      path: '/alerts',
      operationId: 'readAlerts',
      summary: 'Read the webhooks of the server and the last 100 alerts, newest first',
      description,
      permission: 'health:read',
      operator: true,
      answer: 'AlertsAnswer',
      handle: async () => ({ body: successEnvelope(alerts.report()) }),
    },
    {
      method: 'POST',
      path: '/alerts/test',
      operationId: 'testAlerts',
      summary: 'Send a test alert to each webhook of the server once',
      description: `${description} The response waits at most 10 s for the webhooks.`,
      permission: 'nodes:write',
      operator: true,
      answer: 'AlertTestAnswer',
      errors: ['bodyTooLarge'],
      handle: async () => ({ body: successEnvelope(await alerts.test()) }),
    },
  ];
}
