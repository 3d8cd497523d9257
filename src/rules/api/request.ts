import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Actor } from '../index.ts';
import type { Caller } from './authenticate.ts';

/** A request as its handler sees it: authenticated, allowed, its path taken apart. */
export interface ApiRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Empty on a path without an account. */
  readonly accountId: string;
  /** Empty on a path without a rule; any text otherwise. */
  readonly ruleId: string;
  /** Empty on a path without an entry of a list; any text otherwise. */
  readonly entryId: string;
  /** Empty on a path without an attack; any text otherwise. */
  readonly attackId: string;
  /** Empty on a path without a token; any text otherwise. */
  readonly tokenId: string;
  /** Empty on a path without a key; any text otherwise. */
  readonly keyId: string;
  /** The path as it came, without its query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** The bytes of the body, undefined where there was none. */
  readonly body: unknown;
}

/** A successful answer as it goes over the wire. */
export interface ApiAnswer {
  /** An envelope, where `type` does not say otherwise; a stream is opened where there is somebody to read it. */
  readonly body: string | Buffer | (() => Readable);
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller has it already, so that only the headers are sent. */
  readonly isKnown?: boolean;
}
