import { availableParallelism } from 'node:os';

/** The first release of each line in which dgram can share a port (`reusePort`); lines after 23 have it from the start. */
const FIRST_MINOR: Readonly<Record<number, number>> = { 22: 12, 23: 1 };
/** Where the kernel spreads the packets of a shared port over the sockets. */
const SPREADING_PLATFORMS: readonly string[] = ['linux', 'freebsd'];
/** More threads than these bring little: the servers behind and the network are the limit then. */
const MOST_BY_ITSELF = 4;

/** Why several threads cannot listen on one UDP port here; undefined where they can. */
export function cannotSharePort(
  version = process.versions.node,
  platform: string = process.platform,
): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!SPREADING_PLATFORMS.includes(platform)) return `${platform} does not spread packets over threads`;
  const first = FIRST_MINOR[major] ?? (major > 23 ? 0 : Number.POSITIVE_INFINITY);
  return minor >= first ? undefined : `Node ${version} cannot share a UDP port; 22.12, 23.1 and later can`;
}

/**
 * How many threads receive where `wanted` are asked for; 0 asks for as many as there are cores, four at most.
 * `cannotShare` is what {@link cannotSharePort} says.
 */
export function threadsFor(wanted: number, cannotShare: string | undefined): number {
  if (cannotShare !== undefined) return 1;
  return wanted === 0 ? Math.min(MOST_BY_ITSELF, availableParallelism()) : wanted;
}
