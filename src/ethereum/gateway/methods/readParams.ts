import { RpcError } from '../../jsonrpc/index.ts';
import type { Param } from './row.ts';

/**
 * The parameters in canonical form: defaults filled in as far as something follows them, quantities and hex in one
 * spelling. Throws RpcError naming the first that is missing, superfluous or bad.
 */
export function readParams(params: readonly Param[], given: readonly unknown[]): unknown[] {
  if (given.length > params.length)
    throw new RpcError(
      'invalidParams',
      `params must have at most ${params.length} elements${listed(params)}; it has ${given.length}`,
    );
  const places = placesOf(params);
  const read: unknown[] = [];
  params.forEach(({ kind, optional, otherwise }, i) => {
    const value = given[i];
    const isLeftOut = optional && (value === undefined || value === null);
    read.push((isLeftOut ? otherwise : kind.read(value, places[i] ?? '')) ?? null);
  });
  while (read.length > 0 && read[read.length - 1] === null) read.pop();
  return read;
}

const knownPlaces = new WeakMap<readonly Param[], readonly string[]>();

/** How errors name the parameters of a method: made once, as they are at hand whether there is an error or not. */
function placesOf(params: readonly Param[]): readonly string[] {
  let places = knownPlaces.get(params);
  if (places === undefined) {
    places = params.map(({ name }, i) => `params[${i}] (${name})`);
    knownPlaces.set(params, places);
  }
  return places;
}

const listed = (params: readonly Param[]): string =>
  params.length === 0 ? '' : ` (${params.map(({ name }) => name).join(', ')})`;
