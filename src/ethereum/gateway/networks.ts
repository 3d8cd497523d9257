/** All paths of the gateway are below. */
export const GATEWAY_PREFIX = '/v1/';
/** The same without the slash: somebody left the network out. */
const GATEWAY_ROOT = /^\/v1(?:\?|$)/;
/** Behind the network's name: its OpenRPC document. */
const DOCUMENT = '/openrpc.json';
/** Behind the network's name: what is asked in the form of explorers. */
const EXPLORER = '/api';

/** Whether a URL is the gateway's to answer. */
export const isGatewayUrl = (url: string | undefined): boolean =>
  url !== undefined && (url.startsWith(GATEWAY_PREFIX) || GATEWAY_ROOT.test(url));

/** What a path below /v1/ names. */
export interface GatewayPath {
  /** A network, by its name or its chain's id. */
  readonly network: string;
  readonly resource: GatewayResource;
}

/** What is below a network: its methods, its OpenRPC document, or its index in the form of explorers. */
export type GatewayResource = 'methods' | 'document' | 'explorer';

/** Reads a path, with or without a slash at its end. */
export function pathOf(path: string): GatewayPath {
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  const network = (resource: string): string => path.slice(GATEWAY_PREFIX.length, end - resource.length);
  if (path.endsWith(DOCUMENT, end)) return { network: network(DOCUMENT), resource: 'document' };
  // A network may be called so, too.
  if (path.endsWith(EXPLORER, end) && network(EXPLORER) !== '')
    return { network: network(EXPLORER), resource: 'explorer' };
  return { network: network(''), resource: 'methods' };
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
