import { type Fault, InvalidRule, pointerTo, quoteText } from '../../index.ts';
import type { ResultInfo } from './envelope.ts';

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
  const faults: Fault[] = [];
  const wrong = (name: string, allowed: string) => {
    const value = query[name];
    const got = typeof value === 'string' ? quoteText(value) : 'more than one value';
    faults.push({ pointer: pointerTo(name), message: `${name} must be ${allowed}; got ${got}` });
  };

  const page = readInteger(query['page'], 1, Number.MAX_SAFE_INTEGER);
  if (page === undefined) wrong('page', 'an integer from 1');
  const perPage = readInteger(query['per_page'], MAX_PER_PAGE, MAX_PER_PAGE);
  if (perPage === undefined) wrong('per_page', `an integer from 1 to ${MAX_PER_PAGE}`);
  const wanted = query['order'] === CLOUDFLARE_DEFAULT_ORDER ? undefined : query['order'];
  const order = orders.find((name) => name === (wanted ?? 'created_on'));
  if (order === undefined) wrong('order', `one of ${orders.join(', ')}`);
  const direction = String(query['direction'] ?? 'ASC').toUpperCase();
  if (direction !== 'ASC' && direction !== 'DESC') wrong('direction', `one of ${directions.join(', ')}`);

  if (page === undefined || perPage === undefined || order === undefined || faults.length > 0)
    throw new InvalidRule(faults);
  return { page, perPage, order, descending: direction === 'DESC' };
}

/**
 * Parses a query parameter that is an integer from 1 to `highest`. Returns `standard` if it is absent, and undefined
 * if it is invalid.
 */
export function readInteger(value: unknown, standard: number, highest: number): number | undefined {
  if (value === undefined) return standard;
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= 1 && number <= highest ? number : undefined;
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
