import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { handshakeProblem } from './handshake.ts';

const VALID = {
  'sec-websocket-version': '13',
  'sec-websocket-key': `${'A'.repeat(22)}==`,
  host: 'example.test:8545',
};
const statusOf = (headers: object, allowedOrigin?: string) =>
  handshakeProblem({ headers: { ...VALID, ...headers } } as unknown as IncomingMessage, allowedOrigin)
    ?.status;

it.each([
  [{}, undefined],
  [{ origin: 'http://example.test:8545' }, undefined],
  [{ origin: 'http://example.test:8545', host: 'Example.test:8545' }, undefined],
  [{ origin: 'http://other.test' }, 403],
  [{ origin: 'null' }, 403],
  [{ origin: 'http://example.test:8545', host: undefined }, 403],
  [{ 'sec-websocket-version': '8' }, 426],
  [{ 'sec-websocket-key': 'short' }, 400],
  [{ 'sec-websocket-key': undefined }, 400],
])('a WebSocket handshake with %o has the status %o', (headers, status) => {
  expect(statusOf(headers)).toBe(status);
});

it('an allowed origin may open a WebSocket from another host', () => {
  expect(statusOf({ origin: 'http://other.test' }, 'http://other.test')).toBeUndefined();
});
