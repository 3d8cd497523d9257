import type { Permission } from '../index.ts';
import type { SchemaName } from './envelopeSchemas.ts';
import type { ErrorCase } from './errors.ts';
import type { ParameterName } from './parameters.ts';
import type { ApiAnswer, ApiRequest } from './request.ts';

/** One operation: from this table come the routes, the `Allow` header and the OpenAPI document. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** In the form of OpenAPI, below the base. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** What the summary leaves open, in whole sentences. */
  readonly description?: string;
  /** What the token must allow for the account in the path; none where any valid token will do. */
  readonly permission?: Permission;
  /** It is of the server itself and of no account: the token must be one for all of them. */
  readonly operator?: true;
  /** It is of no account in particular: the handler looks at what the caller is for. */
  readonly anyAccount?: true;
  /**
   * Taken only without a trailing slash. With it the path is that of a single rule whose id was left empty, by an
   * unset variable for example, and that must not be answered as the collection.
   */
  readonly exactPath?: true;
  /** Answered without a token, and left out of the OpenAPI document: the document and its page. */
  readonly open?: true;
  /** It has no end, which no OpenAPI document can say: it is left out of that, and told in docs/rules-api.md. */
  readonly isStream?: true;
  /** The store alone answers it: any process does that opens that. */
  readonly isStored?: true;
  /** Query parameters and headers that it reads. */
  readonly parameters?: readonly ParameterName[];
  readonly body?: SchemaName;
  readonly answer?: SchemaName;
  /** Errors beside those that every operation has. */
  readonly errors?: readonly ErrorCase[];
  readonly handle: (request: ApiRequest) => Promise<ApiAnswer>;
}
