/**
 * The guard under test in a separate process. Its first argument is the task; it sends the port to its parent by IPC.
 */
import { setPriority } from 'node:os';
import { startGuard } from '../../src/dns/controller/index.ts';
import { EmbeddedDataPlane } from '../../src/dns/dataplane/embedded/index.ts';
import type { ProfileSensitivity } from '../../src/rules/index.ts';

export interface GuardTask {
  readonly server: { readonly host: string; readonly port: number };
  readonly zone: string;
  readonly zoneFile: string;
  readonly guarded: boolean;
  readonly sensitivity: ProfileSensitivity;
}

const { server, zone, zoneFile, guarded, sensitivity } = JSON.parse(process.argv[2] ?? '') as GuardTask;
/**
 * Priority that docs/reference/dns-traffic.md recommends for a guard that shares its cores. It is also set with the guard
 * off.
 */
const PRIORITY = -15;
try {
  setPriority(PRIORITY);
} catch {
  // Without root the priority stays unchanged, and the figures are worse.
}
const stamp = '2026-11-20T10:00:00.000000+00:00';
const options = {
  listen: [{ host: '127.0.0.1', port: 0 }],
  servers: [server],
  guarded,
  // The program's default: one thread per core, if this Node can share a port.
  threads: 0,
};
const guard = await startGuard(
  { place: {}, zones: [{ name: zone, file: zoneFile }] },
  {
    dataPlane: (context) => new EmbeddedDataPlane(options, context),
    rules: {
      list: () => [
        {
          id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
          scope: 'global',
          name: 'global',
          mode: 'enabled',
          profile_sensitivity: sensitivity,
          rate_sensitivity: 'medium',
          burst_sensitivity: 'medium',
          created_on: stamp,
          modified_on: stamp,
        },
      ],
      onChange: () => () => {},
    },
  },
);
const plane = guard.dataPlane;
await guard.seeding.tried;
process.send?.({ port: plane.addresses[0]?.port, threads: Math.max(1, plane.threads.length) });
process.on('message', () =>
  process.send?.({
    verdicts: [...guard.detector.verdicts],
    packets: plane.packets(),
    threads: plane.threads.length,
  }),
);
process.on('disconnect', () => void guard.stop());
