import { navigate } from 'wouter-preact/use-browser-location';
import { accountQuery } from './session.ts';

export const BASE = '/console';

/** Returns the URL of a page of the console, with the selected account in its query. `path` may have a query too. */
export function hrefOf(path: string): string {
  const query = accountQuery.value;
  const whole = path === '/' ? `${BASE}/` : `${BASE}${path}`;
  if (query === '') return whole;
  return `${whole}${whole.includes('?') ? '&' : '?'}${query}`;
}

export function goTo(path: string, options: { readonly replace?: boolean } = {}): void {
  navigate(hrefOf(path), options);
}
