/** Guards that share a database: each guard reports its status and counts, and reads the reports of the others. */

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
