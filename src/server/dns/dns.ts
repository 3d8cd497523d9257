import { mkdirSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError } from '../../config/index.ts';
import type { LocalGuard } from '../../dns/analytics/index.ts';
import { type Attack, type AttackEvent, attackRuleOf } from '../../dns/attacks/index.ts';
import { notReady, registerGuardMetrics, startGuard } from '../../dns/controller/index.ts';
import { EmbeddedDataPlane } from '../../dns/dataplane/embedded/index.ts';
import type { MakeDataPlane } from '../../dns/dataplane/index.ts';
import { FleetMember, FleetReporter, type FleetStore, ReportingStore } from '../../dns/fleet/index.ts';
import { DnsStore } from '../../dns/store/lmdb/index.ts';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import { gaugesOf } from '../../platform/metrics/index.ts';
import type { Scheduler } from '../../platform/scheduler/index.ts';
import type { RulesStorage } from '../../rules/index.ts';
import type { FreeSpace } from '../health/freeSpace.ts';
import { VERSION } from '../version.ts';
import { accessListsOf } from './accessLists.ts';
import { dnsdistOptionsOf, embeddedOptionsOf, guardOptionsOf } from './dnsOptions.ts';
import type { OwnReports } from './guardReports.ts';

/** DNS part of the server: the guard of one account, and its reports. */
export interface Dns {
  readonly addresses: readonly ServerAddress[];
  readonly own: OwnReports & LocalGuard;
  /** Reports this guard's counters to the database that guards share; undefined if there is no such database. */
  readonly reporter: FleetReporter | undefined;
  attacks(): readonly Attack[];
  /**
   * Discards what the guard learned about a zone, if it protects this account. `at`: time of the audit entry with the
   * request.
   */
  forget(account: string, zone: string, at: string): void;
  /** Time of the last audit entry that the guard has seen; undefined if no profile with such a time is stored. */
  forgottenUntil: string | undefined;
  /**
   * Returns a text that names the parts of the guard that are not yet in their configured state; undefined if there
   * are none. DNS is served in either case.
   */
  missing(): string | undefined;
  stop(): Promise<void>;
}

export interface DnsDependencies {
  readonly storage: Pick<RulesStorage, 'rules' | 'lists' | 'zonePolicies'>;
  /** The database that several guards share, if one is configured. */
  readonly fleet: FleetStore | undefined;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly freeSpace: Pick<FreeSpace, 'allows'>;
  readonly scheduler: Scheduler;
  /** Called when an attack begins, changes or ends. */
  readonly onAttack?: ((event: AttackEvent) => void) | undefined;
}

/** Time limit of the last report at shutdown; unreported counters are reported after the next start. */
const LAST_REPORT_MS = 2_000;
const UNREPORTED_HELP =
  "Seconds since all counters of this guard were last reported to the guards' shared database.";

/** Starts the DNS guard of an account. Throws ConfigError if options are inconsistent. */
export async function startDns(
  { config, account }: { readonly config: Config; readonly account: string },
  { storage, fleet, logger, registry, freeSpace, scheduler, onAttack }: DnsDependencies,
): Promise<Dns> {
  const { dataPlane, kind, listenOption, message } =
    config.dns.dnsdistConsoles.length > 0 ? await dnsdist(config) : embedded(config, scheduler);
  const options = guardOptionsOf(config);
  const store = DnsStore.open(config.dataDir, () => freeSpace.allows('analytics'));
  const telling = new ReportingStore(store);
  try {
    const guard = await startGuard(options, {
      dataPlane,
      rules: sourceOf(account, storage.rules),
      lists: accessListsOf(account, storage.lists),
      zonePolicies: sourceOf(account, storage.zonePolicies),
      profileStore: store,
      queryStatsStore: telling,
      attackStore: telling,
      onAttack,
      log: logger,
    }).catch((error: unknown) => explainListening(error, listenOption));
    registerGuardMetrics(guard, registry);
    const self = await FleetMember.open(
      { account, place: options.place, version: VERSION, dataPlane: kind },
      { identities: store, rule: () => attackRuleOf(guard.detector.rule) },
    ).catch(async (error: unknown) => {
      await guard.stop();
      throw error;
    });
    const reporter = fleet && new FleetReporter({ fleet, self, local: store, log: logger });
    telling.reporter = reporter;
    reporter?.start();
    gaugesOf(registry)('floodgate_dns_unreported_seconds', UNREPORTED_HELP, () => reporter?.lagSeconds ?? 0);
    const { addresses } = guard.dataPlane;
    logger.info({ account, dns: addresses.map(textOf) }, message);
    return {
      addresses,
      own: {
        self,
        dataPlane: kind,
        guard,
        store,
        account,
        // The id of the instance may change, so it is read at each access.
        get instance() {
          return self.id;
        },
        place: options.place,
        detector: guard.detector,
        stats: guard.stats,
      },
      reporter,
      attacks: () => guard.attacks.open(),
      forget(forAccount, zone, at) {
        // Set first, because the guard stores its profile when it forgets a zone.
        guard.forgottenUntil = at;
        if (forAccount === account) guard.forget(zone);
      },
      get forgottenUntil() {
        return guard.forgottenUntil;
      },
      set forgottenUntil(at) {
        guard.forgottenUntil = at;
      },
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

/** A data plane of the guard, with its texts for errors and logs. */
interface ConfiguredDataPlane {
  readonly dataPlane: MakeDataPlane;
  readonly kind: 'embedded' | 'dnsdist';
  /** Name of the option that contains the listen address. */
  readonly listenOption: string;
  readonly message: string;
}

function embedded(config: Config, scheduler: Scheduler): ConfiguredDataPlane {
  const options = { ...embeddedOptionsOf(config), scheduler };
  return {
    dataPlane: (context) => new EmbeddedDataPlane(options, context),
    kind: 'embedded',
    listenOption: 'dns.listen',
    message: 'guarding DNS',
  };
}

async function dnsdist(config: Config): Promise<ConfiguredDataPlane> {
  // This module is loaded on demand, because most guards use the embedded data plane.
  const { DnsdistDataPlane } = await import('../../dns/dataplane/dnsdist/index.ts');
  const options = dnsdistOptionsOf(config);
  mkdirSync(options.folder, { recursive: true });
  return {
    dataPlane: (context) => new DnsdistDataPlane(options, context),
    kind: 'dnsdist',
    listenOption: 'dns.dnstapListen',
    message: 'driving dnsdist',
  };
}

interface AccountStore<Item> {
  list(accountId: string): Promise<readonly Item[]>;
  onChange(listener: (accountId: string) => void): () => void;
}

/** Returns the source from which the guard reads the rules or zone policies of an account. */
const sourceOf = <Item>(account: string, store: AccountStore<Item>) => ({
  list: () => store.list(account),
  onChange: (listener: () => void) => store.onChange((changed) => changed === account && listener()),
});

/** Converts a failure to listen into a ConfigError, because the operator must change the address. */
function explainListening(error: unknown, option: string): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof Error && ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes(code))
    throw new ConfigError(`${option}: ${error.message}. Use an address of this machine and a free port`);
  throw error;
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
