import { afterAll, describe, vi } from 'vitest';

// Runs the tests of the rules API again, against servers with workers.
vi.resetModules();
vi.stubEnv('TEST_RULES_WITH_WORKERS', '2');
afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe('with workers: operations', async () => {
  await import('../rules/operations.test.ts');
});
describe('with workers: errors', async () => {
  await import('../rules/errors.test.ts');
});
describe('with workers: access lists', async () => {
  await import('../rules/accessLists.test.ts');
});
describe('with workers: audit log', async () => {
  await import('../rules/auditApi.test.ts');
});
describe('with workers: tokens', async () => {
  await import('../rules/tokensApi.test.ts');
});
describe('with workers: live stream', async () => {
  await import('../rules/live.test.ts');
});
describe('with workers: rate limits', async () => {
  await import('../rules/rateLimit.test.ts');
});
