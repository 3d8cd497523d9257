/** Calls for zone policies and assessments of zones. */
import { account, isGuarded } from '../session.ts';
import { type ApiResponse, call, pathOf } from './client.ts';
import { collection } from './collection.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type ZonePolicy = Schemas['ZonePolicy'];
export type ZonePolicyCreation = Schemas['ZonePolicyCreation'];
export type ZonePolicyPatch = Schemas['ZonePolicyPatch'];
export type ZoneAssessment = Schemas['ZoneAssessment'];

const configPath = (): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection`;
export const policyCalls = collection<ZonePolicy, ZonePolicyCreation, ZonePolicyPatch>(
  () => `${configPath()}/zones`,
);

/** Lets all guards of the account discard what they learned about the zone of a policy. */
export const forgetZone = (id: string): Promise<Outcome<ApiResponse<null>>> =>
  call({ method: 'POST', path: `${policyCalls.callOf(id).path}/forget` });

/** Assessments of the guard in this server; none if the guard protects another account. */
export async function listAssessments(): Promise<Outcome<readonly ZoneAssessment[]>> {
  if (!isGuarded.value) return { value: [] };
  const answer = await call<readonly ZoneAssessment[]>({ path: `${configPath()}/zone_assessments` });
  return 'failure' in answer ? answer : { value: answer.value.result };
}
