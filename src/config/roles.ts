import { ConfigError } from './configError.ts';
import { type Config, ROLES } from './schema.ts';

/** What a server is for. */
export type Role = (typeof ROLES)[number];

const ALL = 'all';

/** The roles of a server, in the order of `ROLES`. Throws ConfigError where they do not fit together, or not to the other options. */
export function rolesOf(config: Config): readonly Role[] {
  const { role, rulesOnly, dns } = config;
  if (role === ALL) {
    const ofEverything: Readonly<Record<Role, boolean>> = {
      ...{ gateway: !rulesOnly, ingest: !rulesOnly, rules: true },
      guard: dns.account !== undefined,
    };
    return ROLES.filter((one) => ofEverything[one]);
  }
  if (rulesOnly)
    throw new ConfigError(
      `role (FLOODGATE_ROLE, --role) is "${role}" and rulesOnly is true; allowed: one of the two. rulesOnly is role "rules,guard"`,
    );
  const named = role.split(',');
  const roles = ROLES.filter((one) => named.includes(one));
  for (const need of NEEDS) checkNeed(config, roles, need);
  return roles;
}

/** An option that a role needs. */
interface Need {
  readonly role: Role;
  /** It does not where the server has this role, too. */
  readonly unless?: Role;
  readonly option: string;
  readonly isSet: (config: Config) => boolean;
  readonly because: string;
}

const TRACE_STORE = {
  option: 'traceStore (FLOODGATE_TRACE_STORE, --trace-store)',
  isSet: ({ traceStore }: Config) => traceStore !== undefined,
};

const NEEDS: readonly Need[] = [
  {
    role: 'gateway',
    unless: 'ingest',
    ...TRACE_STORE,
    because: 'an index in the data folder is written by the server that answers from it',
  },
  {
    role: 'ingest',
    unless: 'gateway',
    ...TRACE_STORE,
    because: 'an index in the data folder is answered from by the server that writes it',
  },
  {
    role: 'guard',
    unless: 'rules',
    option: 'rules.store (FLOODGATE_RULES_STORE, --rules-store)',
    isSet: ({ rules }) => rules.store !== undefined,
    because: 'rules in the data folder are changed through the server that guards by them',
  },
  {
    role: 'guard',
    option: 'dns.account (FLOODGATE_DNS_ACCOUNT, --dns-account)',
    isSet: ({ dns }) => dns.account !== undefined,
    because: 'a guard enforces the rules of one account',
  },
];

function checkNeed(config: Config, roles: readonly Role[], need: Need): void {
  const { role, unless, option, isSet, because } = need;
  if (!roles.includes(role) || (unless !== undefined && roles.includes(unless)) || isSet(config)) return;
  const instead = unless === undefined ? `a role without ${role}` : `"${[...roles, unless].join(',')}"`;
  throw new ConfigError(
    `role (FLOODGATE_ROLE, --role) is "${config.role}", and ${option} is not set: ${because}; allowed: ${instead}, or set it`,
  );
}
