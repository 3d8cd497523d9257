/**
 * The port between the guard and what carries DNS. The controller knows this alone; `embedded` and `dnsdist` implement it and know
 * neither each other nor the controller. docs/adding-a-data-plane.md says how to add one.
 */
export type { DataPlane, DataPlaneContext, MakeDataPlane } from './dataPlane.ts';
export type { DnsServer } from './dnsServer.ts';
export { PacketFaults } from './packetFaults.ts';
