import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Actor } from '../../index.ts';
import type { Caller } from './authenticate.ts';

/** Authenticated and authorized request with its path parameters, as passed to handlers. */
export interface ApiRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Empty if the path contains no account. */
  readonly accountId: string;
  /** Empty if the path contains no rule; not validated. */
  readonly ruleId: string;
  /** Empty if the path contains no list entry; not validated. */
  readonly entryId: string;
  /** Empty if the path contains no attack; not validated. */
  readonly attackId: string;
  /** Empty if the path contains no token; not validated. */
  readonly tokenId: string;
  /** Empty if the path contains no key; not validated. */
  readonly keyId: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface ApiResponse {
  /** Response body: an envelope unless `type` is set. A function opens a stream, and is not called for HEAD. */
  readonly body: string | Buffer | (() => Readable);
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the client has this version, so that 304 is sent without a body. */
  readonly isNotModified?: boolean;
}
