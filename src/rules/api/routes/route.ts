import type { Permission } from '../../index.ts';
import type { SchemaName } from '../document/envelopeSchemas.ts';
import type { ParameterName } from '../document/parameters.ts';
import type { ErrorCase } from '../http/errors.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';

/** Operation of the API. Fastify routes, `Allow` headers and the OpenAPI document are generated from this table. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path in OpenAPI syntax, relative to the base. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Permission that the token needs for the account in the path. Default: any valid token. */
  readonly permission?: Permission;
  /** Operation on the server itself, which needs a token for all accounts. */
  readonly operator?: true;
  /** Operation without an account in its path; the handler checks the caller's accounts. */
  readonly anyAccount?: true;
  /** Rejects a trailing slash, which names a rule with an empty id and must not act on the whole collection. */
  readonly exactPath?: true;
  /** Needs no token and is omitted from the OpenAPI document; set for the document itself and its page. */
  readonly open?: true;
  /** Endless response, which OpenAPI cannot describe. Omitted from the document; docs/reference/rules-api.md describes it. */
  readonly isStream?: true;
  readonly parameters?: readonly ParameterName[];
  readonly body?: SchemaName;
  readonly answer?: SchemaName;
  readonly errors?: readonly ErrorCase[];
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
}
