/**
 * Interface between the controller and the data planes `embedded` and `dnsdist`, which do not import each other.
 * docs/internals/adding-a-data-plane.md explains how to add a data plane.
 */
export type { DataPlane, DataPlaneContext, MakeDataPlane } from './dataPlane.ts';
export type { DnsServer } from './dnsServer.ts';
export { PacketFaults } from './packetFaults.ts';
export { PendingTimes } from './pendingTimes.ts';
export { PendingUserQueries } from './pendingUserQueries.ts';
export { newResponseTimes, ResponseTimes, TimeCounts } from './responseTimes.ts';
export { UpstreamHealth } from './upstreamHealth.ts';
