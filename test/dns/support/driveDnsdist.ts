import {
  type Guard,
  type GuardDependencies,
  type GuardOptions,
  startGuard,
} from '../../../src/dns/controller/index.ts';
import { DnsdistDataPlane, type DnsdistOptions } from '../../../src/dns/dataplane/dnsdist/index.ts';

export type DnsdistGuard = Guard<DnsdistDataPlane>;
export type DriveOptions = DnsdistOptions & Partial<GuardOptions> & Omit<GuardDependencies, 'dataPlane'>;

/** Starts a guard that drives dnsdist. */
export const driveDnsdist = (options: DriveOptions): Promise<DnsdistGuard> =>
  startGuard(
    { place: {}, ...options },
    { ...options, dataPlane: (context) => new DnsdistDataPlane(options, context) },
  );
