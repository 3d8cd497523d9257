// Tests the recipe "a field of a rule" in CONTRIBUTING.md: one line in the schema must suffice for a new field.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import Fastify, { type InjectOptions } from 'fastify';
import Type from 'typebox';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { rulesApi } from '../../rules/api/index.ts';
import {
  configuredTokenId,
  exampleRule,
  hashSecret,
  RuleFormat,
  type RulesStorage,
  ruleFormat,
  ruleSchema,
} from '../../rules/index.ts';
import { openRulesStorage } from '../../rules/store/lmdb/index.ts';
import { registerRules } from './rules/rules.ts';

const { created_on, modified_on, ...fields } = ruleSchema.properties;
/** The schema with an additional required field and an additional optional field. */
const wider = new RuleFormat(
  Type.Object({
    ...fields,
    log_level: Type.Enum(['quiet', 'loud'], {
      type: 'string',
      default: 'quiet',
      description: 'Amount of logging.',
    }),
    weight: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 9, default: 5, description: 'Weight of the rule.' }),
    ),
    created_on,
    modified_on,
  }),
);

const ACCOUNT = 'a';
const PATH = `/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`;
const authorization = 'Bearer secret';

let folder: string;
let storage: RulesStorage;
let server: ReturnType<typeof Fastify>;
let url: string;
/** Id of a rule stored before the two fields existed. */
let olderId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-new-field-'));
  const older = openRulesStorage(folder);
  const actor = { by: 'test', from: 'local' };
  ({
    item: { id: olderId },
  } = await older.rules.create(
    ACCOUNT,
    { ...exampleRule, scope: 'region', name: 'older' },
    { actor, retryKey: `${configuredTokenId(hashSecret('secret'))} older-key` },
  ));
  await older.close();

  storage = openRulesStorage(folder, { format: wider });
  server = Fastify();
  const { rules, zonePolicies, tokens } = storage;
  await server.register(rulesApi, {
    prefix: '/client/v4',
    rules,
    zonePolicies,
    tokens,
    configuredTokens: ['secret'],
    format: wider,
  });
  url = `${await server.listen()}/client/v4`;
});

afterAll(async () => {
  await server.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

const inject = async ({ headers, ...options }: InjectOptions) => {
  const answer = await server.inject({ ...options, headers: { authorization, ...headers } });
  return { status: answer.statusCode, headers: answer.headers, ...answer.json() };
};

const send = (method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) =>
  inject({ method, url: path, ...(payload && { payload }) });

/** A create request with an idempotency key. */
const createAs = (retryKey: string, payload: object) =>
  inject({ method: 'POST', url: PATH, headers: { 'idempotency-key': retryKey }, payload });

/** Returns the output of a command that runs in this process with the wider schema. */
async function floodgate(...words: readonly string[]): Promise<string> {
  const program = new Command().exitOverride();
  registerRules(program, wider);
  let printed = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    printed += text;
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  });
  vi.stubEnv('FLOODGATE_TOKEN', 'secret');
  try {
    await program.parseAsync(['rules', ...words, '--url', url, '--account', ACCOUNT], { from: 'user' });
  } finally {
    write.mockRestore();
    vi.unstubAllEnvs();
    process.exitCode = 0;
  }
  return printed;
}

const NEW = { ...exampleRule, scope: 'region', name: 'here', log_level: 'loud' };
const NEW_FIELDS = ['log_level', 'weight'];
const ORDER = [...ruleFormat.members.slice(0, -2), ...NEW_FIELDS, 'created_on', 'modified_on'];

it('a create request requires or defaults the new fields and returns them in schema order', async () => {
  const { log_level: _, ...without } = NEW;
  expect(await send('POST', PATH, without)).toMatchObject({
    status: 400,
    errors: [
      {
        message: 'log_level is missing; it must be one of "quiet", "loud"',
        source: { pointer: '/log_level' },
      },
    ],
  });
  expect(await send('POST', PATH, { ...NEW, weight: 10 })).toMatchObject({
    status: 400,
    errors: [{ message: 'weight must be an integer from 1 to 9; got 10' }],
  });
  const { status, result } = await send('POST', PATH, NEW);
  expect(status).toBe(200);
  expect(result).toMatchObject({ log_level: 'loud', weight: 5 });
  expect(Object.keys(result)).toEqual(ORDER);
});

it('a PATCH request sets the new fields and rejects values that the schema does not allow', async () => {
  const { result } = await send('POST', PATH, NEW);
  const patched = await send('PATCH', `${PATH}/${result.id}`, { log_level: 'quiet', weight: 7 });
  expect(patched.result).toMatchObject({ log_level: 'quiet', weight: 7 });
  expect((await send('GET', `${PATH}/${result.id}`)).result).toEqual(patched.result);
  expect((await send('PATCH', `${PATH}/${result.id}`, { ...patched.result })).result).toEqual(patched.result);
  expect((await send('PATCH', `${PATH}/${result.id}`, { weight: '7' })).status).toBe(400);
});

it('a rule stored without the new fields is returned with their defaults', async () => {
  const { result } = await send('GET', `${PATH}/${olderId}`);
  expect(result).toMatchObject({ name: 'older', log_level: 'quiet', weight: 5 });
  expect(Object.keys(result)).toEqual(ORDER);
  expect((await send('GET', PATH)).result).toContainEqual(result);
  expect((await storage.rules.list(ACCOUNT)).find(({ id }) => id === olderId)).toEqual(result);
  expect((await send('PATCH', `${PATH}/${olderId}`, { weight: 6 })).result).toMatchObject({
    log_level: 'quiet',
    weight: 6,
  });
});

it('a retry counts as the same request only if the new fields have equal values or defaults', async () => {
  const first = await createAs('key', NEW);
  const again = await createAs('key', { ...NEW, weight: 5 });
  expect(again).toMatchObject({
    status: 200,
    result: first.result,
    headers: { 'idempotent-replayed': 'true' },
  });
  expect(await createAs('key', { ...NEW, log_level: 'quiet' })).toMatchObject({ status: 422 });
  expect(await createAs('key', { ...NEW, weight: 4 })).toMatchObject({ status: 422 });
});

it('a retry finds a rule that was created before the new fields existed', async () => {
  const body = { ...exampleRule, scope: 'region', name: 'older', log_level: 'quiet' };
  const { status, result } = await createAs('older-key', body);
  expect({ status, id: result.id, level: result.log_level }).toEqual({
    status: 200,
    id: olderId,
    level: 'quiet',
  });
});

it('the OpenAPI document describes the new fields in requests and responses', async () => {
  const { components } = (await server.inject('/client/v4/openapi.json')).json();
  const { RuleCreation, RulePatch, Rule } = components.schemas;
  expect(RuleCreation.required).toContain('log_level');
  expect(RuleCreation.required).not.toContain('weight');
  expect(RuleCreation.properties.weight).toMatchObject({
    type: 'integer',
    minimum: 1,
    maximum: 9,
    default: 5,
  });
  expect(RulePatch.properties).toMatchObject({
    log_level: { enum: ['quiet', 'loud'] },
    weight: { type: 'integer' },
  });
  expect(RulePatch.properties.weight).not.toHaveProperty('default');
  expect(RulePatch.required).toBeUndefined();
  expect(Rule.required).toEqual(ORDER);
});

it('the command line has a flag and a table column for each new field', async () => {
  const flags = Object.entries(exampleRule).flatMap(([member, value]) => [
    `--${member.replaceAll('_', '-')}`,
    value,
  ]);
  const created = await floodgate('create', ...flags, '--log-level', 'loud', '--weight', '3');
  expect(created).toMatch(
    /^ID +SCOPE +NAME +MODE +PROFILE +RATE +BURST +LOG LEVEL +WEIGHT +MODIFIED \(UTC\)\n/,
  );
  expect(created).toMatch(/ loud +3 +\d{4}-/);
  const [id = ''] = /[0-9a-f-]{36}/.exec(created) ?? [];
  expect(await floodgate('update', id, '--log-level', 'quiet')).toMatch(/ quiet +3 +/);
  expect(await floodgate('list')).toMatch(/ older +.* quiet +\d +/);
});

it('a rules file contains the new fields, and plan and apply detect their changes', async () => {
  const file = join(folder, 'rules.yaml');
  writeFileSync(file, await floodgate('export'));
  // Earlier tests left rules that share a target with others.
  await floodgate('apply', file, '--force');
  const exported = await floodgate('export');
  expect(exported).toContain('log_level: loud\n    weight: 5\n');
  expect(await floodgate('plan', file)).toContain('Nothing to do');

  writeFileSync(
    file,
    exported.replaceAll('log_level: loud', 'log_level: quiet').replaceAll('    weight: 5\n', ''),
  );
  const plan = await floodgate('plan', file);
  expect(plan).toContain('    log_level: loud → quiet\n');
  expect(plan).not.toContain('weight:');
  expect(await floodgate('apply', file, '--force')).toContain('changed region here');
  expect(await floodgate('plan', file)).toContain('Nothing to do');
});

it('a field without default or with a type that cannot be displayed is rejected', () => {
  const withField = (field: Parameters<typeof Type.Optional>[0]) => () =>
    new RuleFormat(Type.Object({ ...fields, field }));
  expect(withField(Type.Optional(Type.Boolean()))).toThrow('needs a default');
  expect(withField(Type.Array(Type.String()))).toThrow('field must be one of these');
});
