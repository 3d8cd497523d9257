import { IncomingMessage } from 'node:http';

const TOLD = Symbol('upgrade');
const WEB_SOCKET = 'websocket';

/**
 * A request of which node asks whether it leaves HTTP: only one for a WebSocket does. What else a client would upgrade to (h2c, as
 * Java's client offers with each first request) is left aside, and the request answered as it stands.
 */
export class UpgradableRequest extends IncomingMessage {
  declare [TOLD]: boolean | undefined;

  /** Node's parser sets what the headers say, and its server asks for it. */
  get upgrade(): boolean {
    return this[TOLD] === true && isForWebSocket(this);
  }

  set upgrade(told: boolean) {
    this[TOLD] = told;
  }
}

const isForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'CONNECT' || (method === 'GET' && headers.upgrade?.toLowerCase() === WEB_SOCKET);
