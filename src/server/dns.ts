import { mkdirSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError } from '../config/index.ts';
import type { OwnGuard } from '../dns/analytics/index.ts';
import { type Attack, type AttackEvent, ruleMet } from '../dns/attacks/index.ts';
import { notReady, registerGuardMetrics, startGuard } from '../dns/controller/index.ts';
import { EmbeddedDataPlane } from '../dns/dataplane/embedded/index.ts';
import type { MakeDataPlane } from '../dns/dataplane/index.ts';
import { FleetReporter, type FleetStore, GuardSelf, TellingStore } from '../dns/fleet/index.ts';
import { DnsStore } from '../dns/store/lmdb/index.ts';
import type { ServerAddress } from '../platform/addresses/index.ts';
import { gaugesOf } from '../platform/metrics/index.ts';
import type { AccessListStore, RuleStore } from '../rules/index.ts';
import { accessListsOf } from './accessLists.ts';
import { dnsdistOptionsOf, embeddedOptionsOf, guardOptionsOf } from './dnsOptions.ts';
import type { OwnReports } from './guardReports.ts';
import { VERSION } from './version.ts';

/** The DNS half of the server: the guard of one account, and what it tells of itself. */
export interface Dns {
  /** Where the guard answers DNS. */
  readonly addresses: readonly ServerAddress[];
  /** What the rules API tells of it. */
  readonly own: OwnReports & OwnGuard;
  /** Tells the others what it counts; none where it is the only one. */
  readonly reporter: FleetReporter | undefined;
  /** The attacks that last. */
  attacks(): readonly Attack[];
  /** What is not as configured yet, for whoever looks: DNS is answered all the same. Undefined where nothing is missing. */
  missing(): string | undefined;
  stop(): Promise<void>;
}

export interface DnsDependencies {
  readonly rules: RuleStore;
  readonly lists: AccessListStore;
  /** The store that guards share, where they do. */
  readonly fleet: FleetStore | undefined;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Hears of attacks that begin, change or end. */
  readonly onAttack?: ((event: AttackEvent) => void) | undefined;
}

/** What was counted last is told with the next start otherwise. */
const LAST_REPORT_MS = 2_000;
const UNTOLD = 'Seconds since the database that guards share knew all that this one has counted.';

/** Starts the guard for an account. Throws `ConfigError` where its options do not fit together. */
export async function startDns(
  { config, account }: { readonly config: Config; readonly account: string },
  { rules, lists, fleet, logger, registry, onAttack }: DnsDependencies,
): Promise<Dns> {
  const { dataPlane, kind, listenOption, message } =
    config.dns.dnsdistConsoles.length > 0 ? await dnsdist(config) : embedded(config);
  const options = guardOptionsOf(config);
  const store = DnsStore.open(config.dataDir);
  const telling = new TellingStore(store);
  try {
    const guard = await startGuard(options, {
      dataPlane,
      rules: rulesOf(account, rules),
      lists: accessListsOf(account, lists),
      profileStore: store,
      queryStatsStore: telling,
      attackStore: telling,
      onAttack,
      log: logger,
    }).catch((error: unknown) => explainListening(error, listenOption));
    registerGuardMetrics(guard, registry);
    const self = await GuardSelf.open(
      { account, place: options.place, version: VERSION, dataPlane: kind },
      { identities: store, rule: () => ruleMet(guard.detector.rule) },
    ).catch(async (error: unknown) => {
      await guard.stop();
      throw error;
    });
    const reporter = fleet && new FleetReporter({ fleet, self, local: store, log: logger });
    telling.reporter = reporter;
    reporter?.start();
    gaugesOf(registry)('floodgate_dns_untold_seconds', UNTOLD, () => reporter?.behindSeconds ?? 0);
    const { addresses } = guard.dataPlane;
    logger.info({ account, dns: addresses.map(textOf) }, message);
    return {
      addresses,
      own: {
        ...{ self, dataPlane: kind, guard, store, account },
        // It may become another one.
        get instance() {
          return self.id;
        },
        ...{ place: options.place, detector: guard.detector, stats: guard.stats },
      },
      reporter,
      attacks: () => guard.attacks.open(),
      missing: () => notReady(guard),
      async stop() {
        await guard.stop();
        await reporter?.stop(LAST_REPORT_MS);
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A data plane as it is configured. */
interface ConfiguredDataPlane {
  readonly dataPlane: MakeDataPlane;
  readonly kind: 'embedded' | 'dnsdist';
  /** The option that says where it listens. */
  readonly listenOption: string;
  /** What the log says when it runs. */
  readonly message: string;
}

function embedded(config: Config): ConfiguredDataPlane {
  const options = embeddedOptionsOf(config);
  return {
    dataPlane: (context) => new EmbeddedDataPlane(options, context),
    kind: 'embedded',
    listenOption: 'dns.listen',
    message: 'guarding DNS',
  };
}

async function dnsdist(config: Config): Promise<ConfiguredDataPlane> {
  // Loaded only here: most guards carry DNS themselves.
  const { DnsdistDataPlane } = await import('../dns/dataplane/dnsdist/index.ts');
  const options = dnsdistOptionsOf(config);
  mkdirSync(options.folder, { recursive: true });
  return {
    dataPlane: (context) => new DnsdistDataPlane(options, context),
    kind: 'dnsdist',
    listenOption: 'dns.dnstapListen',
    message: 'driving dnsdist',
  };
}

const rulesOf = (account: string, rules: RuleStore) => ({
  list: () => rules.list(account),
  onChange: (listener: () => void) => rules.onChange((changed) => changed === account && listener()),
});

/** An address that cannot be listened on is for the operator to mend. */
function explainListening(error: unknown, option: string): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof Error && ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes(code))
    throw new ConfigError(
      `${option}: ${error.message}. Name an address of this machine and a port that is free`,
    );
  throw error;
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
