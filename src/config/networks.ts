import { ConfigError } from './configError.ts';
import type { Config } from './schema.ts';

/** The network that the top-level `upstream` stands for. */
export const MAINNET = 'mainnet';

/** A node as it is configured, with what it may be asked for a second. */
export interface UpstreamConfig {
  readonly url: string;
  readonly callsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** A network as it is configured. */
export interface NetworkConfig {
  readonly upstream: readonly UpstreamConfig[];
  readonly indexFrom: number | undefined;
}

/** Every network that is configured, by its name. Throws ConfigError. */
export function networksOf(config: Config): Map<string, NetworkConfig> {
  const networks = new Map(
    Object.entries(config.networks).map(([name, { upstream, indexFrom }]) => [
      name,
      { upstream: upstream.map(withLimits), indexFrom },
    ]),
  );
  if (config.upstream.length > 0 && networks.has(MAINNET))
    throw new ConfigError(
      'upstream and networks.mainnet both name the nodes of mainnet: name them in one of the two',
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

/**
 * The nodes of one network, for a command: those that its flags name (`named`), else those that are configured for it.
 * Throws ConfigError where there are none.
 */
export function nodesOf(config: Config, network: string, named: readonly string[]): readonly string[] {
  // What the flags name is for the network that they name, whatever else is configured.
  if (named.length > 0) {
    checkUrls(network, named);
    return named;
  }
  const configured = networksOf(config);
  const known = configured.get(network);
  if (known !== undefined) return known.upstream.map(({ url }) => url);
  throw new ConfigError(
    network === MAINNET
      ? 'no Ethereum node is named: name one with --upstream URL (or FLOODGATE_UPSTREAM)'
      : `no node of network ${network} is named: name one with --upstream URL, or under networks.${network} in the ` +
          `configuration file; configured are: ${[...configured.keys()].join(', ') || 'none'}`,
  );
}

/** Refuses what is no URL here, once: everything behind may take it for one. Never shows it, as it may hold a password. */
function checkUrls(network: string, urls: readonly string[]): void {
  const bad = urls.findIndex((url) => !URL.canParse(url));
  if (bad === -1) return;
  throw new ConfigError(
    `upstream ${bad + 1} of network ${network} is not a URL (not shown, as it may contain a password): expected ` +
      'http://HOST:PORT/PATH or https://HOST/PATH, with percent-encoding in user name and password for anything but ' +
      'letters, digits, - and _',
  );
}
