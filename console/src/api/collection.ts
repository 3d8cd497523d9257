import { signal } from '@preact/signals';
import { type ApiRequest, type ApiResponse, call, NOT_MODIFIED, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';

/** A record with its ETag. A change sends the ETag, and fails with status 412 if the record was changed since. */
export interface Tagged<Item> {
  readonly item: Item;
  readonly etag: string;
  readonly messages: readonly string[];
}

async function request<Item>(asked: ApiRequest): Promise<Outcome<Tagged<Item>>> {
  const answer = await call<Item>(asked);
  if ('failure' in answer) return answer;
  const { result, etag = '*', messages } = answer.value;
  return { value: { item: result, etag, messages } };
}

/** Calls for the records of a collection. `path` is evaluated at each call, because the account may change. */
export function collection<Item extends { readonly id: string }, Creation, Patch>(path: () => string) {
  const callOf = (id: string): ApiRequest => ({ path: path() + pathOf`/${id}` });
  /** The list that was read last. The server does not send it again while it is unchanged. */
  let known: { readonly path: string; readonly answer: ApiResponse<readonly Item[]> } | undefined;
  /**
   * ETag of the list, of its newest response or of the newest message of the live stream. When it changes, pages read
   * the records again. Without the responses, a rule that was created and deleted between two messages would stay.
   */
  const version = signal('');
  return {
    version,
    /** Lists the records without parameters: only then the ETag equals the one of the live stream. */
    async list(): Promise<Outcome<ApiResponse<readonly Item[]>>> {
      const asked = path();
      const before = known?.path === asked ? known.answer : undefined;
      const headers = before?.etag === undefined ? {} : { 'if-none-match': before.etag };
      const outcome = await call<readonly Item[]>({ path: asked, headers });
      const isUnchanged = 'failure' in outcome && outcome.failure.status === NOT_MODIFIED;
      const answer = 'value' in outcome ? outcome.value : isUnchanged ? before : undefined;
      if (answer === undefined) return outcome;
      known = { path: asked, answer };
      version.value = answer.etag ?? '';
      return { value: answer };
    },
    callOf,
    read: (id: string) => request<Item>(callOf(id)),
    /** Creates a record. If the request is retried with the same `key`, no second record is created. */
    create: (body: Creation, key?: string) =>
      request<Item>({
        method: 'POST',
        path: path(),
        body,
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      }),
    update: ({ item, etag }: Tagged<Item>, body: Patch) =>
      request<Item>({ ...callOf(item.id), method: 'PATCH', body, headers: { 'if-match': etag } }),
    delete: ({ item, etag }: Tagged<Item>): Promise<Outcome<ApiResponse<null>>> =>
      call({ ...callOf(item.id), method: 'DELETE', headers: { 'if-match': etag } }),
  };
}
