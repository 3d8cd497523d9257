import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { methodsTable, SERVED_METHODS } from '../../src/ethereum/gateway/index.ts';
import { RPC_ERRORS } from '../../src/ethereum/jsonrpc/index.ts';

const page = readFileSync(new URL('../../docs/gateway.md', import.meta.url), 'utf8');

describe('docs/gateway.md', () => {
  it('has the table of methods that the program has', () => {
    expect(page, `the table must be:\n\n${methodsTable()}`).toContain(methodsTable());
  });

  it('has every error of the table of errors', () => {
    for (const { code, meaning } of Object.values(RPC_ERRORS))
      expect(page).toContain(`| ${code} | ${meaning} |`);
  });

  it('lists 36 methods: those of the reference gateway, and three more from the index', () => {
    expect(new Set(SERVED_METHODS).size).toBe(SERVED_METHODS.length);
    expect(SERVED_METHODS).toHaveLength(36);
  });
});
