import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Actor } from '../../index.ts';
import type { Caller } from './authenticate.ts';
import type { Credentials } from './sessionCookies.ts';

/** Request as it is passed to handlers: authenticated, authorized, and with its path parameters. */
export interface ApiRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Account id in the path; empty if the path has none. */
  readonly accountId: string;
  /** Rule id in the path, not validated; empty if the path has none. */
  readonly ruleId: string;
  /** Id of a list entry in the path, not validated; empty if the path has none. */
  readonly entryId: string;
  /** Id of a zone policy in the path, not validated; empty if the path has none. */
  readonly zoneId: string;
  /** Id of an attack in the path, not validated; empty if the path has none. */
  readonly attackId: string;
  /** Token id in the path, not validated; empty if the path has none. */
  readonly tokenId: string;
  /** Id of an API key in the path, not validated; empty if the path has none. */
  readonly keyId: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** Credentials of the request, which a stream presents again while it is open. */
  readonly credentials: Credentials;
  readonly body: unknown;
}

export interface ApiResponse {
  /** Response body: an envelope unless `type` is set. A function opens a stream; for HEAD, it is not called. */
  readonly body: string | Buffer | (() => Readable);
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the client has the current version of the object, so that 304 is sent without a body. */
  readonly isNotModified?: boolean;
}
