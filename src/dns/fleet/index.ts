/** Guards that share a database: each writes its status, counts and attacks, and can read those of all guards. */

export { FleetMember } from './fleetMember.ts';
export {
  type FleetAttackQuery,
  type FleetStore,
  type GuardAttack,
  INSTANCE_KEPT_DAYS,
  type Instance,
  type InstanceReport,
  MAX_INSTANCES,
  MAX_MINUTES_READ,
  type MemberIdentity,
  type ReportCursor,
} from './fleetStore.ts';
export type { Identity, IdentityStore, LocalRecords } from './localRecords.ts';
export { FleetReporter } from './reporter.ts';
export { ReportingStore } from './reportingStore.ts';
