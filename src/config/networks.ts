import { ConfigError } from './configError.ts';
import type { Config } from './schema.ts';

/** Name of the network to which the top-level option `upstream` belongs. */
export const MAINNET = 'mainnet';

export interface UpstreamConfig {
  readonly url: string;
  readonly callsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

export interface NetworkConfig {
  readonly upstream: readonly UpstreamConfig[];
  readonly indexFrom: number | undefined;
}

/** Returns all configured networks by name. Throws ConfigError. */
export function networksOf(config: Config): Map<string, NetworkConfig> {
  const networks = new Map(
    Object.entries(config.networks).map(([name, { upstream, indexFrom }]) => [
      name,
      { upstream: upstream.map(withLimits), indexFrom },
    ]),
  );
  if (config.upstream.length > 0 && networks.has(MAINNET))
    throw new ConfigError(
      'upstream and networks.mainnet both configure the nodes of mainnet: use one of them',
    );
  const mainnet = { upstream: config.upstream.map(withLimits), indexFrom: config.index.from };
  const all = config.upstream.length === 0 ? networks : new Map([[MAINNET, mainnet], ...networks]);
  for (const [name, { upstream }] of all)
    checkUrls(
      name,
      upstream.map(({ url }) => url),
    );
  return all;
}

const withLimits = (upstream: Config['upstream'][number]): UpstreamConfig =>
  typeof upstream === 'string' ? { url: upstream } : upstream;

/** Returns the node URLs in `named` (from flags), or else the configured ones. Throws ConfigError without any. */
export function nodesOf(config: Config, network: string, named: readonly string[]): readonly string[] {
  // Flags override the configuration of any network.
  if (named.length > 0) {
    checkUrls(network, named);
    return named;
  }
  const configured = networksOf(config);
  const known = configured.get(network);
  if (known !== undefined) return known.upstream.map(({ url }) => url);
  throw new ConfigError(
    network === MAINNET
      ? 'no Ethereum node is configured: set --upstream URL (or FLOODGATE_UPSTREAM)'
      : `no node of network ${network} is configured: set --upstream URL, or networks.${network} in the ` +
          `configuration file; configured networks: ${[...configured.keys()].join(', ') || 'none'}`,
  );
}

/** Throws ConfigError for an invalid URL. The message omits the URL, which may contain a password. */
function checkUrls(network: string, urls: readonly string[]): void {
  const bad = urls.findIndex((url) => !URL.canParse(url));
  if (bad === -1) return;
  throw new ConfigError(
    `upstream ${bad + 1} of network ${network} is not a URL (not shown, as it may contain a password): expected ` +
      'http://HOST:PORT/PATH or https://HOST/PATH, with percent-encoding in user name and password for anything but ' +
      'letters, digits, - and _',
  );
}
