/** The embedded data plane: a UDP and TCP proxy in this process, in front of the authoritative servers. */
export type { ServerAddress } from './backend.ts';
export { followRules } from './followRules.ts';
export { DEFAULT_TIMEOUT_MS, type Guard, type GuardLog, type GuardOptions, startGuard } from './guard.ts';
export { registerDnsMetrics, registerJudgeMetrics } from './metrics.ts';
export { PacketFaults } from './packetFaults.ts';
export { keepMinutes, remember, storedKey } from './remember.ts';
export { type MissingZone, seedZones, type ZoneSeeding, type ZoneSource } from './seedZones.ts';
