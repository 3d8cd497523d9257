import type { IncomingMessage } from 'node:http';
import { CountedRequest } from '../unfinished/countedRequest.ts';

const REPORTED = Symbol('upgrade');
const WEB_SOCKET = 'websocket';

/**
 * A request for which node's `upgrade` property is true only for WebSockets and CONNECT. Other upgrades (h2c, which
 * Java's client offers with each first request) are ignored, and the request is answered as HTTP/1.1.
 */
export class UpgradableRequest extends CountedRequest {
  declare [REPORTED]: boolean | undefined;

  /** Whether the request asks for an upgrade. Node's parser sets this property, and node's server reads it. */
  get upgrade(): boolean {
    return this[REPORTED] === true && isForWebSocket(this);
  }

  set upgrade(reported: boolean) {
    this[REPORTED] = reported;
  }
}

const isForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'CONNECT' || (method === 'GET' && headers.upgrade?.toLowerCase() === WEB_SOCKET);
