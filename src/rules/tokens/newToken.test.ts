import { describe, expect, it } from 'vitest';
import { InvalidRule } from '../invalidRule.ts';
import { parseTimestamp } from '../timestamp.ts';
import { checkNewToken } from './newToken.ts';

const NOW = parseTimestamp('2026-11-01T00:00:00.000000+00:00');

function faultsOf(body: object): string[] {
  try {
    checkNewToken({ label: 'ci', permissions: ['dns_protection:read'], ...body }, NOW);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRule)) throw error;
    return error.faults.map(({ pointer }) => String(pointer));
  }
}

describe('a new token', () => {
  it.each([
    ['for one account', { accounts: ['a'] }, []],
    ['for all accounts', { all_accounts: true }, []],
    ['for no account', {}, ['/accounts']],
    ['for one and for all accounts', { all_accounts: true, accounts: ['a'] }, ['/accounts']],
    ['for the server and one account', { accounts: ['a'], permissions: ['nodes:read'] }, ['/permissions']],
    ['for the server and all accounts', { all_accounts: true, permissions: ['nodes:read'] }, []],
    ['that expires later', { accounts: ['a'], expires_on: '2026-11-01T00:00:01Z' }, []],
    ['that expires now', { accounts: ['a'], expires_on: '2026-11-01T00:00:00Z' }, ['/expires_on']],
  ])('%s is valid, or rejected for the right member', (_, body, pointers) => {
    expect(faultsOf(body)).toEqual(pointers);
  });
});
