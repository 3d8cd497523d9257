/** Sends an alert once. Follows no redirect, reads only the response status, and connects to no private address. */
import { lookup as resolveName } from 'node:dns';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './publicAddress.ts';
import { signatureOf, type Webhook } from './webhook.ts';

/** Time limit of a delivery attempt. A slow webhook delays only its own alerts. */
const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;

export interface SendOptions {
  /** Key with which alerts are signed. Default: no signature. */
  readonly secret?: string | undefined;
  /** Whether addresses outside the public Internet are allowed. */
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly resolve?: typeof resolveName;
}

export interface SendFailure {
  /** Reason of the failure. It does not contain path, query and user of the URL, because they may be secret. */
  readonly reason: string;
  /** Whether the webhook rejected the alert (HTTP status 400 to 499), so that a retry will hardly succeed. */
  readonly isRefused: boolean;
}

/** Sends a body to a webhook once. Resolves with undefined if it was delivered. */
export function sendAlert(
  webhook: Pick<Webhook, 'url'>,
  body: string,
  options: SendOptions,
): Promise<SendFailure | undefined> {
  const { timeoutMs = TIMEOUT_MS, signal, allowPrivate } = options;
  const host = hostOf(webhook.url);
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return Promise.resolve(failed(PRIVATE));
  return new Promise((settle) => {
    const request = requestOf(webhook.url, body, options);
    const end = (failure: SendFailure | undefined): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      request.destroy();
      settle(failure);
    };
    const abort = (): void => end(failed('aborted'));
    const timer = setTimeout(() => end(failed(`no response within ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener('abort', abort);
    request.on('response', ({ statusCode = 0 }) => end(failureOf(statusCode)));
    request.on('error', (error: NodeJS.ErrnoException) => end(failed(error.code ?? error.name)));
    request.on('close', () => end(failed('the connection was closed without a response')));
    request.end(body);
  });
}

function requestOf(url: URL, body: string, options: SendOptions): ClientRequest {
  const host = hostOf(url);
  const { secret } = options;
  return (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    host,
    port: url.port,
    path: url.pathname + url.search,
    method: 'POST',
    ...(isIP(host) === 0 && { servername: host }),
    headers: {
      ...(url.username !== '' && { authorization: basic(url) }),
      host: url.host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'floodgate',
      ...(secret !== undefined && { 'x-floodgate-signature': signatureOf(body, secret, Date.now()) }),
    },
    // Each attempt opens a new connection, so that it uses the address that was checked.
    agent: false,
    lookup: lookupOf(options),
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const failed = (reason: string, isRefused = false): SendFailure => ({ reason, isRefused });

/** Statuses of 4xx that ask the client to retry. */
const LATER = new Set([408, 425, 429]);

function failureOf(status: number): SendFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return failed(`HTTP status ${status}: redirects are not followed, use the target URL`);
  return failed(`HTTP status ${status}`, status >= 400 && status < 500 && !LATER.has(status));
}

const PRIVATE = 'its address is not in the public Internet; set alerts.allowPrivate to allow it';

/**
 * Resolves the host name and checks its addresses when the connection is opened, because a second lookup could return
 * another address (DNS rebinding). If one of several addresses is not public, all are rejected.
 */
function lookupOf({ allowPrivate, resolve = resolveName }: SendOptions): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) return callback(error ?? coded('ENOTFOUND'), '', 0);
      if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address)))
        return callback(coded(PRIVATE), '', 0);
      if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

const coded = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

const basic = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
