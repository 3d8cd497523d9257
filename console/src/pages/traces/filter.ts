/** Filter of the traces of an address. The query of the URL contains it. */
import { parseEther } from './frames/ether.ts';

export const DIRECTIONS = ['from', 'to'] as const;
export const TYPES = ['call', 'create', 'suicide', 'reward'] as const;
export interface Filter {
  readonly direction?: (typeof DIRECTIONS)[number];
  readonly types?: readonly [(typeof TYPES)[number]];
  readonly minValue?: `0x${string}`;
  readonly internal?: boolean;
  readonly failed?: boolean;
  readonly order?: 'asc';
}

const oneOf = <T extends string>(values: readonly T[], text: string | null): T | undefined =>
  values.find((value) => value === text);
const yesNo = (text: string | null): boolean | undefined =>
  text === 'yes' ? true : text === 'no' ? false : undefined;

/** Returns the filter in a URL query. Unknown parameters are ignored, so that links of later versions still work. */
export function filterOf(query: URLSearchParams): Filter {
  const direction = oneOf(DIRECTIONS, query.get('direction'));
  const type = oneOf(TYPES, query.get('types'));
  const minValue = parseEther(query.get('min') ?? '');
  const internal = yesNo(query.get('internal'));
  const failed = yesNo(query.get('failed'));
  return {
    ...(direction !== undefined && { direction }),
    ...(type !== undefined && { types: [type] as const }),
    ...(minValue !== undefined && minValue > 0n && { minValue: `0x${minValue.toString(16)}` as const }),
    ...(internal !== undefined && { internal }),
    ...(failed !== undefined && { failed }),
    ...(query.get('order') === 'oldest' && { order: 'asc' as const }),
  };
}

/** Returns a URL query in which one parameter is set, or deleted if it has no value. */
export function withMember(query: URLSearchParams, name: string, value: string | undefined): string {
  const changed = new URLSearchParams(query);
  if (value === undefined) changed.delete(name);
  else changed.set(name, value);
  return changed.size === 0 ? '' : `?${changed}`;
}
