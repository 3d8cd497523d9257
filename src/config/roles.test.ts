import { describe, expect, it } from 'vitest';
import { ConfigError } from './configError.ts';
import { loadConfig } from './load.ts';
import { rolesOf } from './roles.ts';

type Flags = Readonly<Record<string, string>>;

const TRACE_STORE = { traceStore: 'clickhouse://a@127.0.0.1/b' };
const RULES_STORE = { 'rules.store': 'postgres://a@127.0.0.1/b' };
const ACCOUNT = { 'dns.account': 'a' };

const rolesWith = (flags: Flags) => rolesOf(loadConfig({ environment: {}, flags }));

describe('the roles of a server', () => {
  it.each<[string, Flags, readonly string[]]>([
    ['the default', {}, ['gateway', 'ingest', 'rules']],
    ['all, with a guard', { role: 'all', ...ACCOUNT }, ['gateway', 'ingest', 'rules', 'guard']],
    ['any order', { role: 'ingest,gateway' }, ['gateway', 'ingest']],
    ['a duplicate role', { role: 'rules,rules' }, ['rules']],
    ['rules of an account that is guarded elsewhere', { role: 'rules', ...ACCOUNT }, ['rules']],
    ['a gateway alone', { role: 'gateway', ...TRACE_STORE }, ['gateway']],
    ['ingest alone', { role: 'ingest', ...TRACE_STORE }, ['ingest']],
    ['a gateway with rules', { role: 'gateway,rules', ...TRACE_STORE }, ['gateway', 'rules']],
    ['a guard alone', { role: 'guard', ...RULES_STORE, ...ACCOUNT }, ['guard']],
    ['a guard with its rules', { role: 'rules,guard', ...ACCOUNT }, ['rules', 'guard']],
  ])('%s', (_, flags, roles) => {
    expect(rolesWith(flags)).toEqual(roles);
  });

  it.each<[string, Flags, readonly string[]]>([
    ['a gateway without an index', { role: 'gateway' }, ['"gateway"', '--trace-store', '"gateway,ingest"']],
    [
      'an index without a gateway',
      { role: 'ingest,rules' },
      ['"ingest,rules"', '--trace-store', '"ingest,rules,gateway"'],
    ],
    [
      'a guard without a rules API for its rules',
      { role: 'guard', ...ACCOUNT },
      ['"guard"', '--rules-store', '"guard,rules"'],
    ],
    [
      'a guard without an account',
      { role: 'gateway,ingest,rules,guard' },
      ['--dns-account', 'a role without guard'],
    ],
    ['an unknown role', { role: 'gateway,guards' }, ['gateway,guards', 'gateway, ingest, rules, guard']],
    ['all with another role', { role: 'all,guard' }, ['all,guard', 'all, or one or more of']],
    ['an empty item in the list', { role: 'rules,' }, ['rules,', 'all, or']],
  ])('rejects %s and names the allowed values', (_, flags, names) => {
    const roles = () => rolesWith(flags);
    expect(roles).toThrow(ConfigError);
    for (const name of names) expect(roles).toThrow(name);
  });
});
