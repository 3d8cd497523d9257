/** Calls for zone policies and assessments of zones. */
import { account, isGuarded } from '../session.ts';
import { type ApiRequest, type ApiResponse, call, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type ZonePolicy = Schemas['ZonePolicy'];
export type ZonePolicyCreation = Schemas['ZonePolicyCreation'];
export type ZonePolicyPatch = Schemas['ZonePolicyPatch'];
export type ZoneAssessment = Schemas['ZoneAssessment'];

const configPath = (): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection`;
const zonesPath = (): string => `${configPath()}/zones`;
const zonePath = (id: string): string => zonesPath() + pathOf`/${id}`;

/** A policy with its ETag. A change sends the ETag, and fails if the policy was changed after it was read. */
export interface TaggedPolicy {
  readonly policy: ZonePolicy;
  readonly etag: string;
}

async function requestPolicy(request: ApiRequest): Promise<Outcome<TaggedPolicy>> {
  const answer = await call<ZonePolicy>(request);
  if ('failure' in answer) return answer;
  const { result, etag = '*' } = answer.value;
  return { value: { policy: result, etag } };
}

/** Lists policies without parameters of a list: only then its ETag equals the one of the live stream. */
export const listPolicies = (): Promise<Outcome<ApiResponse<readonly ZonePolicy[]>>> =>
  call({ path: zonesPath() });
export const policyCall = (id: string): ApiRequest => ({ path: zonePath(id) });
export const readPolicy = (id: string) => requestPolicy(policyCall(id));

/** Creates a policy. If the request is retried with the same `key`, no second policy is created. */
export const createPolicy = (policy: ZonePolicyCreation, key: string) =>
  requestPolicy({ method: 'POST', path: zonesPath(), body: policy, headers: { 'idempotency-key': key } });

/** Changes a policy. The server responds with status 412 if the policy was changed after it was read. */
export const updatePolicy = ({ policy: { id }, etag }: TaggedPolicy, patch: ZonePolicyPatch) =>
  requestPolicy({ method: 'PATCH', path: zonePath(id), body: patch, headers: { 'if-match': etag } });

export const deletePolicy = ({ policy: { id }, etag }: TaggedPolicy): Promise<Outcome<ApiResponse<null>>> =>
  call({ method: 'DELETE', path: zonePath(id), headers: { 'if-match': etag } });

/** Lets all guards of the account discard what they learned about the zone of a policy. */
export const forgetZone = (id: string): Promise<Outcome<ApiResponse<null>>> =>
  call({ method: 'POST', path: `${zonePath(id)}/forget` });

/** Assessments of the guard in this server; none if the guard protects another account. */
export async function listAssessments(): Promise<Outcome<readonly ZoneAssessment[]>> {
  if (!isGuarded.value) return { value: [] };
  const answer = await call<readonly ZoneAssessment[]>({ path: `${configPath()}/zone_assessments` });
  return 'failure' in answer ? answer : { value: answer.value.result };
}
