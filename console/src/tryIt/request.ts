import type { HttpRequest, SecretVariable } from '../api/curl.ts';
import type { Field, Operation } from './operations.ts';

export interface Endpoint {
  /** Base URL of the rules API, or URL of a network of the gateway. */
  readonly url: string;
  /** Token or API key; undefined if the requests have no header `authorization`. */
  readonly secret: string | undefined;
  /** Shell variable that replaces the secret in a copied command. */
  readonly variable: SecretVariable;
  /** Set if the cookie of the console's session replaces the secret. */
  readonly isInSession?: boolean;
}

/** Texts that a form contains, by the {@link fieldKey} of their fields. */
export type Values = Readonly<Record<string, string>>;

export interface Fault {
  readonly field: string;
  readonly message: string;
}

export type MadeRequest = { readonly request: HttpRequest } | { readonly faults: readonly Fault[] };

export const fieldKey = ({ location, name }: Field): string => `${location} ${name}`;
export const fieldName = ({ name }: Field): string => name || 'body';

export function requestOf(operation: Operation, { url, secret }: Endpoint, values: Values): MadeRequest {
  const { faults, fields } = read(operation, values);
  if (faults.length > 0) return { faults };
  const authorization = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const request = operation.kind === 'rest' ? restRequest(operation, fields) : rpcRequest(operation, fields);
  return {
    request: {
      method: request.method,
      url: url + request.path,
      headers: {
        ...authorization,
        ...request.headers,
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    },
  };
}

/** Field of a form with its parsed value. The value is undefined if the field is empty. */
interface FilledField {
  readonly field: Field;
  readonly value: unknown;
}

function read({ fields }: Operation, values: Values) {
  const faults: Fault[] = [];
  const filled: FilledField[] = [];
  for (const field of fields) {
    const text = values[fieldKey(field)] ?? '';
    try {
      const value = parseText(field, text);
      const message = problemOf(field, text, value);
      if (message !== undefined) faults.push({ field: fieldName(field), message });
      filled.push({ field, value });
    } catch (error) {
      faults.push({ field: fieldName(field), message: `is not JSON: ${(error as SyntaxError).message}` });
    }
  }
  return { faults, fields: filled };
}

function problemOf({ isRequired, allowed }: Field, text: string, value: unknown): string | undefined {
  if (value === undefined) return isRequired ? 'is required' : undefined;
  if (allowed === undefined || allowed.pattern.test(text)) return undefined;
  return `is ${JSON.stringify(text)}; allowed: ${allowed.words}`;
}

/** Parses the text of a form field. Throws `SyntaxError` if the text must be JSON and is not. */
function parseText({ form, location }: Field, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (form === 'flag') return trimmed === 'true';
  if (form === 'number') return Number(trimmed);
  if (form === 'list') return trimmed.split(/[\s,]+/).filter((item) => item !== '');
  if (location === 'param' && form !== 'choice') return jsonOrWord(trimmed);
  return form === 'json' ? JSON.parse(text) : text;
}

/** Parses a JSON-RPC parameter: JSON, or a string without quotation marks such as latest or 0x10. */
function jsonOrWord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^[[{"]/.test(text)) throw error;
    return text;
  }
}

interface RequestParts {
  readonly method: string;
  /** Path and query, which are appended to the URL of the endpoint. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function restRequest({ method = 'GET', path = '' }: Operation, fields: readonly FilledField[]): RequestParts {
  const at = (location: Field['location']) =>
    fields.filter(({ field, value }) => field.location === location && value !== undefined);
  const textsAt = (location: 'path' | 'query' | 'header'): Record<string, string> =>
    Object.fromEntries(at(location).map(({ field, value }) => [field.name, String(value)]));
  const inPath = textsAt('path');
  const query = new URLSearchParams(textsAt('query'));
  const whole = fields.find(({ field }) => field.location === 'body' && field.name === '');
  const hasBody = fields.some(({ field }) => field.location === 'body');
  const members = at('body').map(({ field, value }) => [field.name, value] as const);
  return {
    method,
    path:
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? '')) +
      (query.size > 0 ? `?${query}` : ''),
    headers: textsAt('header'),
    ...(hasBody && { body: whole ? whole.value : Object.fromEntries(members) }),
  };
}

/** Returns a JSON-RPC request with parameters by position. Empty ones are omitted at the end, and null elsewhere. */
function rpcRequest({ id: method }: Operation, fields: readonly FilledField[]): RequestParts {
  const last = fields.findLastIndex(({ value }) => value !== undefined);
  const params = fields.slice(0, last + 1).map(({ value }) => value ?? null);
  return { method: 'POST', path: '', headers: {}, body: { jsonrpc: '2.0', id: 1, method, params } };
}
