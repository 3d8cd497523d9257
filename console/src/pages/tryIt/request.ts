/** What is sent for what was written into a form. */
import type { Call } from '../../api/client.ts';
import type { RpcCall } from '../../api/rpc.ts';
import type { Field, Operation } from './operations.ts';

export type Values = Readonly<Record<string, string>>;

/** Why nothing can be sent, with the field. */
export interface BadField {
  readonly field: string;
  readonly message: string;
}

export const fieldKey = ({ place, name }: Field): string => `${place} ${name}`;

export const firstValues = ({ fields }: Operation): Values =>
  Object.fromEntries(fields.map((field) => [fieldKey(field), field.first]));

/** The value as JSON has it; undefined where nothing was written. Throws `SyntaxError` for what is none. */
function valueOfField({ form }: Field, text: string): unknown {
  if (text.trim() === '') return undefined;
  switch (form) {
    case 'flag':
      return text === 'true';
    case 'number':
      return Number(text);
    case 'list':
      return text.split(/[\s,]+/).filter((item) => item !== '');
    case 'json':
      return JSON.parse(text);
    default:
      return text;
  }
}

interface Read {
  readonly bad: readonly BadField[];
  of(field: Field): unknown;
}

function read({ fields }: Operation, values: Values): Read {
  const bad: BadField[] = [];
  const all = new Map<Field, unknown>();
  for (const field of fields) {
    const text = values[fieldKey(field)] ?? '';
    try {
      const value = valueOfField(field, text);
      if (value === undefined && field.isRequired) bad.push({ field: field.name, message: 'is missing' });
      all.set(field, value);
    } catch {
      bad.push({ field: field.name || 'body', message: 'is no JSON' });
    }
  }
  return { bad, of: (field) => all.get(field) };
}

export function restCall(operation: Operation, values: Values): Call | readonly BadField[] {
  const { bad, of } = read(operation, values);
  if (bad.length > 0) return bad;
  const at = (place: Field['place']) =>
    operation.fields.filter((field) => field.place === place && of(field) !== undefined);
  const path = (operation.path ?? '').replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const field = operation.fields.find((one) => one.place === 'path' && one.name === name);
    return encodeURIComponent(String(field === undefined ? '' : of(field)));
  });
  const body = at('body');
  const texts = (place: 'query' | 'header') =>
    Object.fromEntries(at(place).map((field) => [field.name, String(of(field))]));
  const members = Object.fromEntries(body.map((field) => [field.name, of(field)]));
  const hasBody = operation.fields.some(({ place }) => place === 'body');
  return {
    method: operation.method as NonNullable<Call['method']>, // as the document has them
    path,
    query: texts('query'),
    headers: texts('header'),
    ...(hasBody && { body: operation.isWholeBody && body[0] ? of(body[0]) : members }),
  };
}

/** Parameters by position: what is left out at the end is not sent, in between it is null. */
export function rpcCall(
  operation: Operation,
  values: Values,
  network: string,
): RpcCall | readonly BadField[] {
  const { bad, of } = read(operation, values);
  if (bad.length > 0) return bad;
  const params = operation.fields.map((field) => of(field));
  while (params.length > 0 && params.at(-1) === undefined) params.pop();
  return { network, method: operation.id, params: params.map((value) => value ?? null) };
}
