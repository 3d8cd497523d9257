import { ConfigError } from './configError.ts';
import { type Config, ROLES } from './schema.ts';

export type Role = (typeof ROLES)[number];

const ALL = 'all';

/** Returns a server's roles in the order of `ROLES`. Throws ConfigError if a role needs an option that is not set. */
export function rolesOf(config: Config): readonly Role[] {
  const { role, dns } = config;
  if (role === ALL) return ROLES.filter((one) => one !== 'guard' || dns.account !== undefined);
  const named = role.split(',');
  const roles = ROLES.filter((one) => named.includes(one));
  for (const need of REQUIREMENTS) checkRequirement(config, roles, need);
  return roles;
}

/** Throws ConfigError if a role needs an Ethereum node, and none is configured. */
export function checkNodes(config: Config): void {
  const roles = rolesOf(config);
  const needsNodes = roles.includes('gateway') || roles.includes('ingest');
  if (!needsNodes || config.upstream.length > 0 || Object.keys(config.networks).length > 0) return;
  const instead = roles.includes('guard')
    ? 'protect only DNS with --role rules,guard'
    : 'serve only the rules API with --role rules';
  throw new ConfigError(
    `no Ethereum node is configured: set --upstream URL (or FLOODGATE_UPSTREAM), or ${instead}. ` +
      'To try Floodgate without a node, run `floodgate dev`',
  );
}

interface Requirement {
  readonly role: Role;
  /** Another role. A server with both roles does not need the option. */
  readonly unless?: Role;
  readonly option: string;
  readonly isSet: (config: Config) => boolean;
  readonly because: string;
}

const TRACE_STORE = {
  option: 'traceStore (FLOODGATE_TRACE_STORE, --trace-store)',
  isSet: ({ traceStore }: Config) => traceStore !== undefined,
};

const REQUIREMENTS: readonly Requirement[] = [
  {
    role: 'gateway',
    unless: 'ingest',
    ...TRACE_STORE,
    because: 'an index in the data folder can be used only by the server that writes it',
  },
  {
    role: 'ingest',
    unless: 'gateway',
    ...TRACE_STORE,
    because: 'an index in the data folder can be used only by the server that writes it',
  },
  {
    role: 'guard',
    unless: 'rules',
    option: 'rules.store (FLOODGATE_RULES_STORE, --rules-store)',
    isSet: ({ rules }) => rules.store !== undefined,
    because: 'rules in the data folder can be used only by a server with the role rules',
  },
  {
    role: 'guard',
    option: 'dns.account (FLOODGATE_DNS_ACCOUNT, --dns-account)',
    isSet: ({ dns }) => dns.account !== undefined,
    because: 'a guard enforces the rules of one account',
  },
];

function checkRequirement(config: Config, roles: readonly Role[], need: Requirement): void {
  const { role, unless, option, isSet, because } = need;
  if (!roles.includes(role) || (unless !== undefined && roles.includes(unless)) || isSet(config)) return;
  const instead = unless === undefined ? `a role without ${role}` : `"${[...roles, unless].join(',')}"`;
  throw new ConfigError(
    `role (FLOODGATE_ROLE, --role) is "${config.role}", but ${option} is not set: ${because}; allowed: ${instead}, or set it`,
  );
}
