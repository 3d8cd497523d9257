/** Guards with a shared database, to which each reports its status and counts, and from which it reads the others'. */

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
