/** Calls for the access lists: networks and names that are allowed or denied before any rule applies. */
import { account } from '../session.ts';
import { type ApiRequest, type ApiResponse, call, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

export type AccessEntry = Schemas['AccessEntry'];
export type AccessListName = 'allowlist' | 'denylist';
export type NewEntry = Schemas['AccessEntryCreation'];

/** An entry with its list and ETag. A change sends the ETag, and fails if the entry was changed after it was read. */
export interface TaggedEntry {
  readonly list: AccessListName;
  readonly entry: AccessEntry;
  readonly etag: string;
}

const listPath = (list: AccessListName): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/${list}`;
const entryCall = (list: AccessListName, id: string): ApiRequest => ({
  path: listPath(list) + pathOf`/${id}`,
});

async function requestEntry(list: AccessListName, request: ApiRequest): Promise<Outcome<TaggedEntry>> {
  const answer = await call<AccessEntry>(request);
  if ('failure' in answer) return answer;
  const { result, etag = '*' } = answer.value;
  return { value: { list, entry: result, etag } };
}

export const listEntries = (list: AccessListName): Promise<Outcome<ApiResponse<readonly AccessEntry[]>>> =>
  call({ path: listPath(list) });
export const readEntry = (list: AccessListName, id: string) => requestEntry(list, entryCall(list, id));
export const createEntry = (list: AccessListName, body: NewEntry) =>
  requestEntry(list, { method: 'POST', path: listPath(list), body });

export const updateEntry = ({ list, entry: { id }, etag }: TaggedEntry, patch: Schemas['AccessEntryPatch']) =>
  requestEntry(list, { ...entryCall(list, id), method: 'PATCH', body: patch, headers: { 'if-match': etag } });

export const deleteEntry = ({
  list,
  entry: { id },
  etag,
}: TaggedEntry): Promise<Outcome<ApiResponse<null>>> =>
  call({ ...entryCall(list, id), method: 'DELETE', headers: { 'if-match': etag } });
