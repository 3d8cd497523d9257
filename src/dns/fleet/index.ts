/** Guards that share a store: what each tells of itself and of what it counted, and what is known of all. */
export {
  type AttackPlaceQuery,
  type FleetStore,
  INSTANCE_KEPT_DAYS,
  type Instance,
  type InstanceTold,
  MAX_INSTANCES,
  MAX_MINUTES_READ,
  type PlacedAttack,
  type ResumeFrom,
  type Self,
} from './fleetStore.ts';
export { GuardSelf } from './guardSelf.ts';
export type { Identity, IdentityStore, LocalRecords } from './localRecords.ts';
export { FleetReporter } from './reporter.ts';
export { TellingStore } from './tellingStore.ts';
