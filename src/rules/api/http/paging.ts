import type { ResultInfo } from './envelope.ts';
import { readQuery } from './queryReader.ts';

/**
 * Maximum and default number of items per page. It is also the maximum number of an account's rules and zone policies,
 * and of the entries of a list.
 */
export const MAX_PER_PAGE = 1000;
export const ruleOrders = ['created_on', 'modified_on', 'name', 'scope', 'mode'] as const;
export const zoneOrders = ['created_on', 'modified_on', 'zone', 'mode'] as const;
/** Default value of `order` in Cloudflare's API, even for rules, which have no field of this name. It is ignored. */
const CLOUDFLARE_DEFAULT_ORDER = 'prefix';
const directions = ['ASC', 'DESC'] as const;

export interface PageRequest<Order extends string = string> {
  readonly page: number;
  readonly perPage: number;
  /** Member to sort by. */
  readonly order: Order;
  readonly descending: boolean;
}

/** Parses the paging parameters of a query. Ignores unknown parameters. Throws `InvalidRule` with all faults. */
export function readPageRequest<Order extends string>(
  query: Readonly<Record<string, unknown>>,
  orders: readonly (Order | 'created_on')[] = ['created_on'],
): PageRequest<Order | 'created_on'> {
  return readQuery(query, (reader) => {
    const page = reader.integer('page') ?? 1;
    const perPage = reader.integer('per_page', MAX_PER_PAGE) ?? MAX_PER_PAGE;
    const order = reader.read('order', `one of ${orders.join(', ')}`, (text) =>
      text === CLOUDFLARE_DEFAULT_ORDER ? 'created_on' : orders.find((name) => name === text),
    );
    const direction = reader.read('direction', `one of ${directions.join(', ')}`, (text) =>
      directions.find((name) => name === text.toUpperCase()),
    );
    return { page, perPage, order: order ?? 'created_on', descending: direction === 'DESC' };
  });
}

export function slicePage<T>(
  all: readonly T[],
  { page, perPage }: Pick<PageRequest, 'page' | 'perPage'>,
): { result: T[]; resultInfo: ResultInfo } {
  const result = all.slice((page - 1) * perPage, (page - 1) * perPage + perPage);
  const total_pages = Math.ceil(all.length / perPage);
  return {
    result,
    resultInfo: { page, per_page: perPage, count: result.length, total_count: all.length, total_pages },
  };
}

/** Returns the requested page of items, which must be in order of creation. */
export function pageOf<Order extends string, T extends Readonly<Record<Order, string>>>(
  items: readonly T[],
  request: PageRequest<Order>,
): { result: T[]; resultInfo: ResultInfo } {
  const { order, descending } = request;
  const sorted = order === 'created_on' ? [...items] : items.toSorted((a, b) => compare(a[order], b[order]));
  if (descending) sorted.reverse();
  return slicePage(sorted, request);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
