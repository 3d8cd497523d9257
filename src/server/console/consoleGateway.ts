import type { IncomingMessage } from 'node:http';
import { type Gateway, unparsedError } from '../../ethereum/gateway/index.ts';
import { addressOfSocket } from '../../platform/addresses/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import { Slots } from '../../platform/budgets/index.ts';
import { clientOf, type TrackedResponse, type Upgrade } from '../../platform/http/index.ts';
import { LOOK_UPS, type SessionCookies } from '../../rules/api/index.ts';

/** Prefix of the gateway's paths for the console, on which its session replaces the API key. */
const PREFIX = '/console';
const CONSOLE_PATHS = `${PREFIX}/v1/`;
/** Interval of checks of the sessions of open WebSockets. They end within a second after their session. */
const CHECK_MS = 500;

/** Right of a session to call the gateway, with the API key that the session contains. */
export interface GatewayAccess {
  readonly key: string | undefined;
}

export interface ConsoleGatewayDependencies {
  readonly gateway: Gateway;
  readonly cookies: SessionCookies;
  /** Returns the access of the session with a secret; undefined if the session has ended. */
  readonly findAccess: (secret: string) => Promise<GatewayAccess | undefined>;
}

/** Serves the gateway, and on the paths below `/console/v1/` to sessions of the console. */
export class ConsoleGateway {
  readonly #gateway: Gateway;
  readonly #cookies: SessionCookies;
  readonly #findAccess: ConsoleGatewayDependencies['findAccess'];
  /** Limits the look-ups of sessions for new requests, as `Authenticator` does. */
  readonly #lookUps = new Slots(LOOK_UPS);

  constructor({ gateway, cookies, findAccess }: ConsoleGatewayDependencies) {
    this.#gateway = gateway;
    this.#cookies = cookies;
    this.#findAccess = findAccess;
  }

  handles(url: string | undefined): boolean {
    return isForConsole(url) || this.#gateway.handles(url);
  }

  keyIdOf(request: IncomingMessage): string | undefined {
    return isForConsole(request.url) ? undefined : this.#gateway.keyIdOf(request);
  }

  handle(request: IncomingMessage, response: TrackedResponse): void {
    if (!isForConsole(request.url)) return this.#gateway.handle(request, response);
    inBackground('request of the console to the gateway', async () => {
      if (await this.#admit(request, response)) this.#gateway.handle(request, response);
    });
  }

  upgrade(upgrade: Upgrade): void {
    const { request, response } = upgrade;
    if (!isForConsole(request.url)) return this.#gateway.upgrade(upgrade);
    inBackground('WebSocket of the console', async () => {
      const secret = await this.#admit(request, response);
      if (secret === undefined) return;
      this.#endWith(secret, request);
      this.#gateway.upgrade(upgrade);
    });
  }

  /** Turns a request of a valid session into one of the gateway, and returns the secret; else answers it. */
  async #admit(request: IncomingMessage, response: TrackedResponse): Promise<string | undefined> {
    const { session: secret } = this.#cookies.credentialsOf(request);
    const access = secret === undefined ? undefined : await this.#findInTurn(secret, request);
    if (response.isFinished) return undefined;
    response.setHeader('cache-control', 'no-store');
    if (access === undefined || access === 'unknown') return void refuse(response, access);
    request.url = request.url?.slice(PREFIX.length);
    if (access.key !== undefined) request.headers.authorization = `Bearer ${access.key}`;
    return secret;
  }

  /** Looks up nothing for a client that has disconnected. */
  #findInTurn(secret: string, request: IncomingMessage): Promise<GatewayAccess | 'unknown' | undefined> {
    return this.#lookUps.run(clientOf(request, addressOfSocket), async () =>
      request.socket.destroyed ? undefined : this.#find(secret),
    );
  }

  async #find(secret: string): Promise<GatewayAccess | 'unknown' | undefined> {
    try {
      return await this.#findAccess(secret);
    } catch {
      return 'unknown';
    }
  }

  /** Closes the connection of a WebSocket soon after its session has ended. */
  #endWith(secret: string, { socket }: IncomingMessage): void {
    const timer = setInterval(() => {
      inBackground('session of a WebSocket', async () => {
        if ((await this.#find(secret)) === undefined) socket.destroy();
      });
    }, CHECK_MS).unref();
    socket.once('close', () => clearInterval(timer));
  }
}

const isForConsole = (url: string | undefined): boolean => url?.startsWith(CONSOLE_PATHS) === true;

/** Answers a request without a valid session, and closes the connection, because its body is not read. */
function refuse(response: TrackedResponse, access: 'unknown' | undefined): void {
  const [status, message] =
    access === 'unknown'
      ? ([503, 'the store of sessions is unavailable; try again'] as const)
      : ([401, 'sign in to the console'] as const);
  const body = unparsedError(status, message);
  const headers = { connection: 'close', 'content-type': 'application/json' };
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
