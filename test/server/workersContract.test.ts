import { afterAll, describe, vi } from 'vitest';

// What holds of the rules API holds of one that workers answer: the same tests, loaded anew, against servers that have some.
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
describe('with workers: audit', async () => {
  await import('../rules/auditApi.test.ts');
});
describe('with workers: tokens', async () => {
  await import('../rules/tokensApi.test.ts');
});
describe('with workers: live', async () => {
  await import('../rules/live.test.ts');
});
describe('with workers: rates', async () => {
  await import('../rules/rateLimit.test.ts');
});
