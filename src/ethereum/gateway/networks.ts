import { PAGE_FILE_NAMES, type PageFileName } from '../../platform/page/index.ts';
import { SECRET_PREFIX } from './keys/authenticate.ts';

export const GATEWAY_PREFIX = '/v1/';
/** Matches a URL that is only the prefix without its trailing slash, and thus names no network. */
const GATEWAY_ROOT = /^\/v1(?:\?|$)/;
export const isGatewayUrl = (url: string | undefined): boolean =>
  url !== undefined && (url.startsWith(GATEWAY_PREFIX) || GATEWAY_ROOT.test(url));

export interface GatewayPath {
  /** Name or chain id of a network. */
  readonly network: string;
  readonly resource: GatewayResource;
  /** API key in the path, after the network. Undefined if the path contains none. */
  readonly key: string | undefined;
}

/** Resource of a network: JSON-RPC methods, OpenRPC document, explorer API (Etherscan format), or HTML page file. */
export type GatewayResource = 'methods' | 'document' | 'explorer' | PageFileName;

/** Resources by the URL path segment that follows the network name. */
const RESOURCES: ReadonlyMap<string, GatewayResource> = new Map<string, GatewayResource>([
  ['openrpc.json', 'document'],
  ['api', 'explorer'],
  ...PAGE_FILE_NAMES.map((name) => [name, name] as const),
]);

/** Parses a URL path. A trailing slash is optional. */
export function pathOf(path: string): GatewayPath {
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  const slash = path.indexOf('/', GATEWAY_PREFIX.length);
  if (slash !== -1 && slash < end) {
    const network = path.slice(GATEWAY_PREFIX.length, slash);
    if (path.startsWith(SECRET_PREFIX, slash + 1)) return pathWithKey(network, path.slice(slash + 1, end));
    const resource = RESOURCES.get(path.slice(slash + 1, end));
    if (resource !== undefined) return { network, resource, key: undefined };
  }
  return { network: path.slice(GATEWAY_PREFIX.length, end), resource: 'methods', key: undefined };
}

/**
 * Parses the part of a path from the API key on. The files of the HTML page have no path with a key, so that browsers
 * do not store a key in their history.
 */
function pathWithKey(network: string, below: string): GatewayPath {
  const slash = below.indexOf('/');
  if (slash === -1) return { network, resource: 'methods', key: below };
  const resource = RESOURCES.get(below.slice(slash + 1));
  const key = below.slice(0, slash);
  if (resource === 'document' || resource === 'explorer') return { network, resource, key };
  return { network: `${network}/${below}`, resource: 'methods', key: undefined };
}

const NAMES: ReadonlyMap<GatewayResource, string> = new Map(
  [...RESOURCES].map(([name, resource]) => [resource, name]),
);

/** Returns the route of a resource (its path with placeholders), which is recorded in tracing spans. */
export function routeOf(resource: GatewayResource): string {
  const name = NAMES.get(resource);
  return `${GATEWAY_PREFIX}{network}${name === undefined ? '' : `/${name}`}`;
}

/** Chain id in a URL path: a decimal number without leading zeros. */
const CHAIN_ID = /^[1-9]\d{0,77}$/;

export class Networks<T> {
  readonly #byName: ReadonlyMap<string, T>;
  readonly #chainIdOf: (network: string) => string | undefined;

  /** `chainIdOf` returns the chain id of a network as a decimal string, or undefined until it is known. */
  constructor(byName: ReadonlyMap<string, T>, chainIdOf: (network: string) => string | undefined) {
    this.#byName = byName;
    this.#chainIdOf = chainIdOf;
  }

  /** Finds a network by name, else by chain id. If several networks have this chain id, returns the first of them. */
  get(network: string): T | undefined {
    const named = this.#byName.get(network);
    if (named !== undefined || !CHAIN_ID.test(network)) return named;
    for (const [name, found] of this.#byName) if (this.#chainIdOf(name) === network) return found;
    return undefined;
  }
}
