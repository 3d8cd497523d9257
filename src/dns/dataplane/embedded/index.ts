/** The embedded data plane: a UDP and TCP proxy in this process, in front of the authoritative servers. */
export { DEFAULT_TIMEOUT_MS, type Guard, type GuardLog, type GuardOptions, startGuard } from './guard.ts';
export { registerDnsMetrics, registerGuardMetrics } from './metrics.ts';
export { PacketFaults } from './packetFaults.ts';
export { SOCKETS_PER_THREAD } from './udpPlane.ts';
