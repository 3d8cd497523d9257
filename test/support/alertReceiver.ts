import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpServer, startHttpServer } from './httpServer.ts';

/** The JSON body of an alert. */
export interface ReceivedAlert {
  readonly id: string;
  readonly incident: string;
  readonly kind: string;
  readonly state: 'firing' | 'resolved';
  readonly subject: string;
  readonly text: string;
  readonly at: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface ReceivedRequest {
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
}

export interface AlertReceiver extends HttpServer {
  /** All requests in order, accepted or not. */
  readonly requests: ReceivedRequest[];
  /** Returns the requests, parsed as alerts. */
  alerts(): ReceivedAlert[];
}

type Respond = (response: ServerResponse, count: number) => void;

/** Starts a webhook receiver. By default it answers 204; tests may respond differently. */
export async function startAlertReceiver(
  respond: Respond = (response) => void response.writeHead(204).end(),
): Promise<AlertReceiver> {
  const requests: ReceivedRequest[] = [];
  const server = await startHttpServer((body, { headers, url = '' }, response) => {
    requests.push({ body, headers, path: url });
    respond(response, requests.length);
  });
  return { ...server, requests, alerts: () => requests.map(({ body }) => JSON.parse(body) as ReceivedAlert) };
}

/**
 * Returns whether a request has a valid signature. This follows the documentation for receivers and shares no code
 * with the product.
 */
export function isSigned({ body, headers }: ReceivedRequest, secret: string, nowMs = Date.now()): boolean {
  const header = String(headers['x-floodgate-signature']);
  const fields = Object.fromEntries(header.split(',').map((field) => field.split('=', 2)));
  const expected = createHmac('sha256', Buffer.from(secret)).update(`${fields['t']}.`).update(body).digest();
  const given = Buffer.from(fields['v1'] ?? '', 'hex');
  const isFresh = Math.abs(nowMs / 1000 - Number(fields['t'])) < 300;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}
