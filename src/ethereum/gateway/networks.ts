/** All paths of the gateway are below. */
export const GATEWAY_PREFIX = '/v1/';
/** The same without the slash: somebody left the network out. */
const GATEWAY_ROOT = /^\/v1(?:\?|$)/;
/** Whether a URL is the gateway's to answer. */
export const isGatewayUrl = (url: string | undefined): boolean =>
  url !== undefined && (url.startsWith(GATEWAY_PREFIX) || GATEWAY_ROOT.test(url));

/** What a path below /v1/ names. */
export interface GatewayPath {
  /** A network, by its name or its chain's id. */
  readonly network: string;
  readonly resource: GatewayResource;
}

/** What is below a network: its methods, its OpenRPC document, its index in the form of explorers, or a file of its page. */
export type GatewayResource = 'methods' | 'document' | 'explorer' | PageFileName;

/** Files of the page to read and try the methods. */
const PAGE_FILE_NAMES = ['page.js', 'calls.js', 'page.css'] as const;
export type PageFileName = (typeof PAGE_FILE_NAMES)[number];

/** Behind the network's name. */
const RESOURCES: ReadonlyMap<string, GatewayResource> = new Map<string, GatewayResource>([
  ['openrpc.json', 'document'],
  ['api', 'explorer'],
  ...PAGE_FILE_NAMES.map((name) => [name, name] as const),
]);

/** Reads a path, with or without a slash at its end. */
export function pathOf(path: string): GatewayPath {
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  const slash = path.indexOf('/', GATEWAY_PREFIX.length);
  if (slash !== -1 && slash < end) {
    const resource = RESOURCES.get(path.slice(slash + 1, end));
    if (resource !== undefined) return { network: path.slice(GATEWAY_PREFIX.length, slash), resource };
  }
  return { network: path.slice(GATEWAY_PREFIX.length, end), resource: 'methods' };
}

const NAMES: ReadonlyMap<GatewayResource, string> = new Map(
  [...RESOURCES].map(([name, resource]) => [resource, name]),
);

/** The form of the paths of a resource. */
export function routeOf(resource: GatewayResource): string {
  const name = NAMES.get(resource);
  return `${GATEWAY_PREFIX}{network}${name === undefined ? '' : `/${name}`}`;
}

/** A chain's id as it stands in a path. */
const CHAIN_ID = /^[1-9]\d{0,77}$/;

/** The networks that are served, found by their names and by the ids of their chains. */
export class Networks<T> {
  readonly #byName: ReadonlyMap<string, T>;
  readonly #chainIdOf: (network: string) => string | undefined;

  /** `chainIdOf`: the id of a network's chain, in decimal; undefined until it is known. */
  constructor(byName: ReadonlyMap<string, T>, chainIdOf: (network: string) => string | undefined) {
    this.#byName = byName;
    this.#chainIdOf = chainIdOf;
  }

  /** A name comes before an id; of two networks on one chain the first does. */
  get(network: string): T | undefined {
    const named = this.#byName.get(network);
    if (named !== undefined || !CHAIN_ID.test(network)) return named;
    for (const [name, found] of this.#byName) if (this.#chainIdOf(name) === network) return found;
    return undefined;
  }
}
