import type { IncomingMessage } from 'node:http';

/** What a request presents to authenticate: the `Authorization` header or, without it, the secret of a session. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly session?: string | undefined;
}

/** Returns whether the browser sent the request over TLS, to this server or to a trusted proxy. */
type IsHttps = (request: IncomingMessage) => boolean;

const SECRET = /^[\w-]{43}$/;
/** Header that the console sends. A page of another origin can send it only after a CORS preflight, which fails. */
const CONSOLE_HEADER = 'x-floodgate-console';

/** Reads and writes the cookie of a console session. docs/internals/threat-model.md lists the rules. */
export class SessionCookies {
  readonly #isHttps: IsHttps;

  constructor(isHttps: IsHttps) {
    this.#isHttps = isHttps;
  }

  /** Returns the credentials of a request. Its cookie counts only if the console sent the request. */
  credentialsOf(request: IncomingMessage): Credentials {
    const { authorization } = request.headers;
    const isCounted = authorization === undefined && this.isFromConsole(request);
    return { authorization, session: isCounted ? this.#secretIn(request) : undefined };
  }

  /**
   * Returns whether a page of this origin sent the request. Browsers cannot add a header to a WebSocket handshake, but
   * they always send its `Origin`.
   */
  isFromConsole(request: IncomingMessage): boolean {
    const { headers } = request;
    const { origin, referer, host = '', 'sec-fetch-site': site } = headers;
    const here = `${this.#isHttps(request) ? 'https' : 'http'}://${host}`.toLowerCase();
    const isHere = origin?.toLowerCase() === here;
    if (headers.upgrade !== undefined) return isHere;
    if (headers[CONSOLE_HEADER] !== '1') return false;
    if (site !== undefined || origin !== undefined) return site === 'same-origin' || isHere;
    // Over plain HTTP, browsers send neither header with a GET request to another machine.
    return referer?.toLowerCase().startsWith(`${here}/`) === true;
  }

  /** Returns the value of `Set-Cookie`. */
  cookie(request: IncomingMessage, secret: string, maxAgeSeconds: number): string {
    const secure = this.#isHttps(request) ? '; Secure' : '';
    const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
    return `${this.#nameFor(request)}=${secret}; ${attributes}`;
  }

  /** Returns the secret in the cookie. Of several, which another port of this host may have set, it accepts none. */
  #secretIn(request: IncomingMessage): string | undefined {
    const start = `${this.#nameFor(request)}=`;
    const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const [secret, ...more] = pairs
      .filter((pair) => pair.startsWith(start))
      .map((pair) => pair.slice(start.length));
    return secret !== undefined && more.length === 0 && SECRET.test(secret) ? secret : undefined;
  }

  /** The name contains the port, because all ports of a host share their cookies. */
  #nameFor(request: IncomingMessage): string {
    const isHttps = this.#isHttps(request);
    const port = /:(\d+)$/.exec(request.headers.host ?? '')?.[1] ?? (isHttps ? '443' : '80');
    return `${isHttps ? '__Host-' : ''}floodgate-${port}`;
  }
}
