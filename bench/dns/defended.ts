/** One of the compared guards in a separate process with all its parts, so that it can be bound to one core. */

import { startGuard } from '../../src/dns/controller/index.ts';
import { EmbeddedDataPlane } from '../../src/dns/dataplane/embedded/index.ts';
import { networkHash } from '../../src/dns/protocol/index.ts';
import type { ServerAddress } from '../../src/platform/addresses/index.ts';
import type { ProfileSensitivity, Rule } from '../../src/rules/index.ts';
import { driveDnsdist } from '../../test/dns/support/driveDnsdist.ts';
import { startDnsdist } from '../../test/dns/support/realDnsdist.ts';
import { startBareRelay } from './bareRelay.ts';
import { startDnsdistByHand } from './dnsdistByHand.ts';
import { NAMES, USER_NETWORK, ZONE } from './names.ts';

export const GUARDS = ['embedded', 'dnsdist', 'by hand', 'bare relay'] as const;
export type GuardKind = (typeof GUARDS)[number];

export interface DefendedTask {
  readonly guard: GuardKind;
  readonly server: ServerAddress;
  readonly zoneFile: string;
  readonly sensitivity: ProfileSensitivity;
}

interface Defended {
  readonly port: number;
  stop(): Promise<void>;
}

const STAMP = '2026-11-20T10:00:00.000000+00:00';
const ruleOf = (sensitivity: ProfileSensitivity): Rule => ({
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: sensitivity,
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: STAMP,
  modified_on: STAMP,
});
const rulesOf = (sensitivity: ProfileSensitivity) => ({
  list: () => [ruleOf(sensitivity)],
  onChange: () => () => {},
});

/**
 * Thresholds of an account known from earlier traffic, like those in a manual dnsdist setup; without a known rate the
 * guard never drops known names.
 */
const detector = {
  thresholds: { unknownPerSecond: 1000, accountUnknownPerSecond: 5000, ratePerSecond: 1000, zones: {} },
};

const HOUR_MS = 3_600_000;

async function embedded({ server, zoneFile, sensitivity }: DefendedTask): Promise<Defended> {
  const options = { listen: [{ host: '127.0.0.1', port: 0 }], servers: [server], threads: 0 };
  const guard = await startGuard(
    { place: {}, zones: [{ name: ZONE, file: zoneFile }], detector },
    { dataPlane: (context) => new EmbeddedDataPlane(options, context), rules: rulesOf(sensitivity) },
  );
  await guard.seeding.tried;
  // The guard also knows the network of the users.
  const nowMs = Date.now();
  for (const atMs of [nowMs - 2 * HOUR_MS, nowMs])
    guard.detector.clients.note(networkHash(`${USER_NETWORK}.1`), atMs);
  return { port: guard.dataPlane.addresses[0]?.port ?? 0, stop: () => guard.stop() };
}

async function drivenDnsdist({ server, zoneFile, sensitivity }: DefendedTask): Promise<Defended> {
  const dnsdist = await startDnsdist(server);
  const { console, key, dnstap, folder, port } = dnsdist;
  const zones = [{ name: ZONE, file: zoneFile }];
  const rules = rulesOf(sensitivity);
  const guard = await driveDnsdist({ consoles: [console], key, dnstap, folder, zones, rules, detector });
  while (
    guard.seeding.missing().length > 0 ||
    guard.dataPlane.knownNames() <= NAMES ||
    !guard.dataPlane.hasRules()
  )
    await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    port,
    async stop() {
      await guard.stop();
      await dnsdist.stop();
    },
  };
}

const start: Readonly<Record<GuardKind, (task: DefendedTask) => Promise<Defended>>> = {
  embedded,
  dnsdist: drivenDnsdist,
  'by hand': ({ server }) => startDnsdistByHand(server),
  'bare relay': ({ server }) => startBareRelay(server),
};

// Does nothing if it is only imported for its types.
if (process.send !== undefined && process.argv[2]?.startsWith('{')) {
  const task = JSON.parse(process.argv[2]) as DefendedTask;
  const defended = await start[task.guard](task);
  process.send({ port: defended.port });
  process.on('disconnect', () => void defended.stop().then(() => process.exit()));
}
