import type { Permission } from '../../index.ts';
import type { SchemaName } from '../document/envelopeSchemas.ts';
import type { ParameterName } from '../document/parameters.ts';
import type { ErrorCase } from '../http/errors.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';

/** Operation of the rules API. Fastify routes, `Allow` headers and the OpenAPI document are generated from these. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path in OpenAPI syntax, relative to the base path of the API. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Permission that the token must have for the account in the path. Default: any valid token is sufficient. */
  readonly permission?: Permission;
  /** Set if the operation concerns the server itself. Its token must then be for all accounts. */
  readonly operator?: true;
  /** Set if the path contains no account. The handler then checks the accounts of the caller. */
  readonly anyAccount?: true;
  /**
   * Set to reject a trailing slash: such a path names a rule with an empty id, and must not delete the collection.
   */
  readonly exactPath?: true;
  /** Set if the operation needs no token and is not in the OpenAPI document: for the document itself and its page. */
  readonly open?: true;
  /** Set for an endless response, which OpenAPI cannot describe. docs/reference/rules-api.md describes it instead. */
  readonly isStream?: true;
  readonly parameters?: readonly ParameterName[];
  readonly body?: SchemaName;
  readonly answer?: SchemaName;
  readonly errors?: readonly ErrorCase[];
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
}
