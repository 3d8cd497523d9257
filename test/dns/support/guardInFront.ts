import { serveZones, ZoneData } from '../../../src/dns/authority/index.ts';
import {
  type Guard,
  type GuardDependencies,
  type GuardOptions,
  type RuleSource,
  startGuard,
} from '../../../src/dns/controller/index.ts';
import { EmbeddedDataPlane, type EmbeddedOptions } from '../../../src/dns/dataplane/embedded/index.ts';
import { ZoneSeed } from '../../../src/dns/detector/index.ts';
import { readMasterFile } from '../../../src/dns/zones/index.ts';
import type { Rule } from '../../../src/rules/index.ts';
import type { Target } from './dnsClient.ts';

export const ZONE_NAME = 'example.test';
export const ZONE_TEXT = `$TTL 300
@ IN SOA ns1 hostmaster ( 1 3600 600 86400 300 )
@ NS ns1
ns1 A 192.0.2.1
www A 192.0.2.80
www AAAA 2001:db8::80
mail MX 10 www
alias CNAME www
deep.under.here TXT "a text; with a semicolon"
big TXT ${Array.from({ length: 20 }, (_, i) => `"${String(i).padStart(2, '0')}${'x'.repeat(98)}"`).join(' ')}
*.users A 192.0.2.99
sub NS ns1.sub
ns1.sub A 192.0.2.53
${Array.from({ length: 200 }, (_, i) => `h${i} A 192.0.2.${i}`).join('\n')}
`;

export const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
};

/** A rule source that a test changes; in the program it is the store of the rules API. */
export class TestRules implements RuleSource {
  #rules: readonly Rule[];
  readonly #listeners = new Set<() => void>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  list(): readonly Rule[] {
    return this.#rules;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(...rules: readonly Rule[]): void {
    this.#rules = rules;
    for (const listener of this.#listeners) listener();
  }
}

export interface GuardSetup {
  readonly guard: Guard<EmbeddedDataPlane>;
  /** The guard's data plane. */
  readonly plane: EmbeddedDataPlane;
  readonly rules: TestRules;
  readonly target: Target;
  stop(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

export interface GuardInFrontOptions
  extends Partial<GuardOptions>,
    Partial<EmbeddedOptions>,
    Partial<Omit<GuardDependencies, 'dataPlane'>> {
  /** Whether the guard knows all names of the zone from the start. Default: true. */
  readonly seed?: boolean;
}

/** Starts a guard in front of the given servers, or of a server with the zone of `ZONE_TEXT`. */
export async function startGuardInFront(
  rule: Partial<Rule> | undefined,
  options: GuardInFrontOptions = {},
): Promise<GuardSetup> {
  const authority = options.servers
    ? undefined
    : await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  const rules = new TestRules(rule === undefined ? [] : [{ ...RULE, ...rule }]);
  const embedded: EmbeddedOptions = {
    listen: [{ host: LOOPBACK, port: 0 }],
    servers: authority ? [authority] : [],
    ...options,
  };
  const guard = await startGuard(
    {
      place: { region: 'weur', datacenter: 'ams' },
      ...options,
      detector: { profile: { maxNames: 10_000 }, ...options.detector },
    },
    { rules, ...options, dataPlane: (context) => new EmbeddedDataPlane(embedded, context) },
  );
  if (options.seed ?? true) {
    const seed = new ZoneSeed({ zone: ZONE_NAME }, guard);
    for (const { owner, type } of readMasterFile(ZONE_TEXT, ZONE_NAME)) seed.add(owner, type);
    seed.finish();
  }
  const plane = guard.dataPlane;
  const [target] = plane.addresses;
  if (target === undefined) throw new Error('the guard has no address');
  return {
    guard,
    plane,
    rules,
    target,
    async stop() {
      await guard.stop();
      await authority?.stop();
    },
  };
}
