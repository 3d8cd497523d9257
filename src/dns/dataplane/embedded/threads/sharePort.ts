import { availableParallelism } from 'node:os';

/** By major version of Node.js: the first minor version with `reusePort` in node:dgram. Later majors all have it. */
const FIRST_MINOR: Readonly<Record<number, number>> = { 22: 12, 23: 1 };
/** Platforms whose kernel distributes the packets of a shared port among the sockets. */
const SPREADING_PLATFORMS: readonly string[] = ['linux', 'freebsd'];
/** Maximum number of threads chosen automatically. With more, the DNS servers or the network are the bottleneck. */
const MOST_BY_ITSELF = 4;

/** Returns the reason why threads cannot share a UDP port on this host, or undefined if they can. */
export function cannotSharePort(
  version = process.versions.node,
  platform: string = process.platform,
): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!SPREADING_PLATFORMS.includes(platform))
    return `${platform} does not distribute the packets of a shared port`;
  const first = FIRST_MINOR[major] ?? (major > 23 ? 0 : Number.POSITIVE_INFINITY);
  return minor >= first ? undefined : `Node ${version} cannot share a UDP port; use 22.12, 23.1 or later`;
}

/**
 * Returns the number of threads that receive UDP queries. If `wanted` is 0, one per core, at most four. `cannotShare`
 * is the result of {@link cannotSharePort}.
 */
export function threadsFor(wanted: number, cannotShare: string | undefined): number {
  if (cannotShare !== undefined) return 1;
  return wanted === 0 ? Math.min(MOST_BY_ITSELF, availableParallelism()) : wanted;
}
