/** One attempt to deliver: no redirect is followed, nothing of the answer but its status is read, no private address is connected to. */
import { lookup as resolveName } from 'node:dns';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './publicAddress.ts';
import { signatureOf, type Webhook } from './webhook.ts';

/** For all of it. A receiver that is slow holds up nothing but what waits for it. */
const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;

export interface SendOptions {
  /** Signs what is sent; nothing is signed where left out. */
  readonly secret?: string | undefined;
  /** Whether addresses that are not of the public Internet are connected to. */
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  /** Ends the attempt. */
  readonly signal?: AbortSignal;
  readonly resolve?: typeof resolveName;
}

/** Why it was not taken. */
export interface SendFailure {
  /** In words without the URL's path, query or user: these may be secret. */
  readonly reason: string;
  /** The receiver does not want it (a status from 400 to 499): it will hardly want it later. */
  readonly isRefused: boolean;
}

/** Sends a body once. Undefined where it was taken. */
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
    const abort = (): void => end(failed('it was broken off'));
    const timer = setTimeout(() => end(failed(`no answer within ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener('abort', abort);
    request.on('response', ({ statusCode = 0 }) => end(failureOf(statusCode)));
    request.on('error', (error: NodeJS.ErrnoException) => end(failed(error.code ?? error.name)));
    request.on('close', () => end(failed('the connection was closed without an answer')));
    request.end(body);
  });
}

function requestOf(url: URL, body: string, options: SendOptions): ClientRequest {
  const host = hostOf(url);
  const { secret } = options;
  return (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    ...{ host, port: url.port, path: url.pathname + url.search, method: 'POST' },
    ...(isIP(host) === 0 && { servername: host }),
    headers: {
      ...(url.username !== '' && { authorization: basic(url) }),
      host: url.host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'floodgate',
      ...(secret !== undefined && { 'x-floodgate-signature': signatureOf(body, secret, Date.now()) }),
    },
    // A connection of its own: what was checked is what is connected to.
    agent: false,
    lookup: lookupOf(options),
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const failed = (reason: string, isRefused = false): SendFailure => ({ reason, isRefused });

/** Statuses that tell to come back, although they begin with a 4. */
const LATER = new Set([408, 425, 429]);

function failureOf(status: number): SendFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return failed(`HTTP status ${status}: redirects are not followed, name the place itself`);
  return failed(`HTTP status ${status}`, status >= 400 && status < 500 && !LATER.has(status));
}

const PRIVATE = 'its address is not one of the public Internet; alerts.allowPrivate allows it';

/**
 * Resolves the name for the connection itself, so that a name that gives another address the second time gives it to nobody
 * (DNS rebinding). One address among several that is not public refuses them all: no honest name has both.
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
